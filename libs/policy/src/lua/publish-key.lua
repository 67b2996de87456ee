--[[ publish-key: write one entry of the key index, and announce it.

KEYS[1]  key entry   KEYS[2]  change feed
ARGV[1]  record as JSON, or the tombstone   ARGV[2]  the tombstone
ARGV[3]  TTL of a revocation, ms            ARGV[4]  TTL of the tombstone of an unknown key, ms
ARGV[5]  sha256 of the key                  ARGV[6]  change id, may be ''
ARGV[7]  length of the feed, about
Reply    { 1 written | 0, feed id }
Guarantee  a revocation is final: a record that a slower publisher brings later does not overwrite it. The 60 s tombstone of an
           unknown key gives way to a record. A record has no TTL. The feed entry is added every time.
]]
local is_revocation = ARGV[1] == ARGV[2]
local is_revoked = redis.call('GET', KEYS[1]) == ARGV[2] and redis.call('PTTL', KEYS[1]) > tonumber(ARGV[4])
local written = 0
if is_revocation then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  written = is_revoked and 0 or 1
elseif not is_revoked then
  redis.call('SET', KEYS[1], ARGV[1])
  written = 1
end
local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[7], '*',
  'topic', 'key', 'subject', ARGV[5], 'revision', '', 'changeId', ARGV[6])
return { written, id }
