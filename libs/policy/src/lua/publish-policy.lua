--[[ publish-policy: write a tenant's head and policy if they are newer, and announce what Redis then holds.

KEYS[1]  head        KEYS[2]  policy        KEYS[3]  change feed
ARGV[1]  revision    ARGV[2]  generation    both integers 1 .. 2^53-1
ARGV[3]  policy, JSON                       ARGV[4]  tenant
ARGV[5]  change id, may be ''               ARGV[6]  length of the feed, about
Reply    { 1 written | 0, revision held, generation held, feed id }; both integers as text, for Lua rounds replies

Newer    revision and generation both at least those held, and not both equal. Equal ones are written only where the policy is missing.
         Neither can be lower: they only grow in Postgres, so a lower one is an old publisher, or Postgres was restored from a backup.
         A head that is absent, `unknown`, `deleted` or malformed holds nothing.
Guarantee  head and policy always belong together and never go back. The head has no TTL afterwards (a plain SET also ends the
           60 s of `unknown`). The feed entry is added every time, so that a redelivery repeats it.
]]
local revision, generation = tonumber(ARGV[1]), tonumber(ARGV[2])
local held = redis.call('GET', KEYS[1])
local held_revision, held_generation = string.match(held or '', '^(%d+)%.(%d+)$')
held_revision, held_generation = tonumber(held_revision or 0), tonumber(held_generation or 0)

local is_older = revision < held_revision or generation < held_generation
local is_equal = revision == held_revision and generation == held_generation
local written = 0
if not is_older and not (is_equal and redis.call('EXISTS', KEYS[2]) == 1) then
  held = ARGV[1] .. '.' .. ARGV[2]
  held_revision, held_generation = revision, generation
  redis.call('SET', KEYS[2], ARGV[3])
  redis.call('SET', KEYS[1], held)
  written = 1
end

local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[6], '*',
  'topic', 'tenant', 'subject', ARGV[4], 'revision', held, 'changeId', ARGV[5])
return { written, string.format('%.0f', held_revision), string.format('%.0f', held_generation), id }
