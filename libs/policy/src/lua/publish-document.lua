--[[ publish-document: write a platform-wide document unless the one held is of a higher revision. The caller announces it in a second command.

KEYS[1]  document
ARGV[1]  document as JSON with an integer field `revision`          ARGV[2]  its revision
Reply    { 1 written | 0, revision held as text }
Guarantee  revisions never go back. What is held and is no document of ours is overwritten: of another type, no JSON, a revision past 15 digits.
]]
local revision = tonumber(ARGV[2])
local held_revision = -1
local held = redis.pcall('GET', KEYS[1])
if type(held) == 'string' then
  local ok, document = pcall(cjson.decode, held)
  if ok and type(document) == 'table' and type(document.revision) == 'number' and document.revision < 1e15 then
    held_revision = document.revision
  end
end
local written = 0
if revision >= held_revision and held ~= ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1])
  written = 1
end
return { written, string.format('%.0f', math.max(held_revision, revision)) }
