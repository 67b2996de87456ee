--[[ publish-key: write one entry of the key index. The caller announces it in a second command, as publish-policy says.

KEYS[1]  key entry
ARGV[1]  record as JSON, or the tombstone   ARGV[2]  the tombstone
ARGV[3]  TTL of a revocation, ms            ARGV[4]  TTL of the tombstone of an unknown key, ms
Reply    1 written | 0
Guarantee  a revocation is final: a record that a slower publisher brings later does not overwrite it. The 60 s tombstone of an
           unknown key gives way to a record. A record has no TTL. An entry of another type is overwritten.
]]
local is_revocation = ARGV[1] == ARGV[2]
local is_revoked = redis.pcall('GET', KEYS[1]) == ARGV[2] and redis.call('PTTL', KEYS[1]) > tonumber(ARGV[4])
if is_revocation then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return is_revoked and 0 or 1
end
if is_revoked then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1])
return 1
