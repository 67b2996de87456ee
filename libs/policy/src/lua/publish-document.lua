--[[ publish-document: write a platform-wide document unless the one held is of a higher revision, and announce it.

KEYS[1]  document    KEYS[2]  change feed
ARGV[1]  document as JSON with an integer field `revision`          ARGV[2]  its revision
ARGV[3]  topic       ARGV[4]  change id, may be ''                  ARGV[5]  length of the feed, about
Reply    { 1 written | 0, revision held as text, feed id }
Guarantee  revisions never go back. A document held that is no JSON is overwritten. The feed entry is added every time.
]]
local revision = tonumber(ARGV[2])
local held_revision = -1
local held = redis.call('GET', KEYS[1])
if held then
  local ok, document = pcall(cjson.decode, held)
  if ok and type(document) == 'table' and type(document.revision) == 'number' then
    held_revision = document.revision
  end
end
local written = 0
if revision >= held_revision and held ~= ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1])
  written = 1
end
held_revision = math.max(held_revision, revision)
local revision_text = string.format('%.0f', held_revision)
local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*',
  'topic', ARGV[3], 'subject', '', 'revision', revision_text, 'changeId', ARGV[4])
return { written, revision_text, id }
