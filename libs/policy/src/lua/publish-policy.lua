--[[ publish-policy: write a tenant's head and policy if they are newer, and say what Redis then holds.

KEYS[1]  head        KEYS[2]  policy        KEYS[3]  subjects; all carry the tenant's hash tag
ARGV[1]  revision    ARGV[2]  generation    both integers 1 .. 2^53-1
ARGV[3]  policy, JSON                       ARGV[4]  '1' when single subjects have overrides, which then are written already
Reply    { 1 written | 0, revision held, generation held }; both integers as text, for Lua rounds replies; an error where ARGV[4] is '1' and the
         overrides written last are not this publisher's: it has to begin again

Newer    revision and generation both at least those held, and not both equal. Equal ones are written only where the policy is missing.
         Neither can be lower: they only grow in Postgres, so a lower one is an old publisher, or Postgres was restored from a backup.
         A head that is absent, `unknown`, `deleted`, malformed, of another type or of more than 15 digits holds nothing.
Guarantee  head and policy always belong together and never go back. The head has no TTL afterwards (a plain SET also ends the
           60 s of `unknown`). The last override of a single subject leaves no hash behind.
Announced  by the caller, in a second command, for the feed is in another slot of a cluster. It is announced whatever the reply: a publisher that
           dies in between is run again (its outbox row is not done) and then finds nothing to write, only to announce. Until then the head
           check tells every guard that calls of the tenant reach.
]]
local revision, generation = tonumber(ARGV[1]), tonumber(ARGV[2])

-- Both parts of a head, 0 where there is none.
local function parts(text)
  local held_revision, held_generation = string.match(type(text) == 'string' and text or '', '^(%d+)%.(%d+)$')
  if not held_revision or #held_revision > 15 or #held_generation > 15 then return 0, 0 end
  return tonumber(held_revision), tonumber(held_generation)
end
local held_revision, held_generation = parts(redis.pcall('GET', KEYS[1]))

local is_older = revision < held_revision or generation < held_generation
local is_equal = revision == held_revision and generation == held_generation
if is_older or (is_equal and redis.call('EXISTS', KEYS[2]) == 1) then
  return { 0, string.format('%.0f', held_revision), string.format('%.0f', held_generation) }
end
local head = ARGV[1] .. '.' .. ARGV[2]
local subjects_of = redis.pcall('HGET', KEYS[3], '#revision')
if type(subjects_of) ~= 'string' then subjects_of = '' end
if ARGV[4] == '1' and subjects_of ~= head then
  return redis.error_reply('SUBJECTS of another publisher (' .. subjects_of .. ') are in the place of those of ' .. head)
end
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], head)
local subjects_revision, subjects_generation = parts(subjects_of)
local is_begun_by_newer = subjects_revision > revision or subjects_generation > generation
if ARGV[4] ~= '1' and not is_begun_by_newer then
  redis.call('UNLINK', KEYS[3])
end
return { 1, ARGV[1], ARGV[2] }
