--[[ publish-deleted: leave a tombstone where a tenant was. The caller announces it in a second command, as publish-policy says.

KEYS[1]  head        KEYS[2]  policy        KEYS[3]  subjects; all carry the tenant's hash tag
ARGV[1]  head of deleted tenants
Reply    1 written | 0 was there
Guarantee  the tombstone has no TTL, so an absent head always means lost data. Repeating it is harmless.
]]
local was_deleted = redis.pcall('GET', KEYS[1]) == ARGV[1]
redis.call('SET', KEYS[1], ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3])
return was_deleted and 0 or 1
