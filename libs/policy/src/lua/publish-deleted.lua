--[[ publish-deleted: leave a tombstone where a tenant was, and announce it.

KEYS[1]  head        KEYS[2]  policy        KEYS[3]  change feed
ARGV[1]  head of deleted tenants            ARGV[2]  tenant
ARGV[3]  change id, may be ''               ARGV[4]  length of the feed, about
Reply    { 1 written | 0 was there, feed id }
Guarantee  the tombstone has no TTL, so an absent head always means lost data. Repeating it is harmless.
]]
local was_deleted = redis.call('GET', KEYS[1]) == ARGV[1]
redis.call('SET', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*',
  'topic', 'tenant', 'subject', ARGV[2], 'revision', ARGV[1], 'changeId', ARGV[3])
return { was_deleted and 0 or 1, id }
