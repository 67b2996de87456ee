--[[ publish-policies: write the heads and policies of some tenants, each pair if it is newer, and say what Redis then holds.

KEYS     head, policy, subjects; of one tenant after the other. Those of one tenant carry its hash tag, so that in a cluster a call has one tenant.
ARGV[1]  number of bodies, then the bodies: what tenants of a tier have in common is sent once
then, of one tenant after the other:
         revision, generation   both integers 1 .. 2^53-1
         beginning of its policy, JSON      number of the body that ends it
         '1' when single subjects have overrides, which then are written already
Reply    of one tenant after the other: 1 written | 0 | -1 not this publisher's turn, revision held, generation held, the head that was met or ''.
         Integers as text, for Lua rounds replies. -1 where single subjects have overrides, and those written last are not this publisher's: it has to
         begin again.

Newer    revision and generation both at least those held, and not both equal. Equal ones are written only where the policy is missing.
         Neither can be lower: they only grow in Postgres, so a lower one is an old publisher, or Postgres was restored from a backup.
         A head that is absent, `unknown`, `deleted`, malformed, of another type or of more than 15 digits holds nothing.
Guarantee  head and policy always belong together and never go back. The head has no TTL afterwards (a plain SET also ends the
           60 s of `unknown`). The last override of a single subject leaves no hash behind.
Announced  by the caller, in a second command, for the feed is in another slot of a cluster. It is announced whatever the reply: a publisher that
           dies in between is run again (its outbox row is not done) and then finds nothing to write, only to announce. Until then the head
           check tells every guard that calls of the tenant reach.
]]
local bodies = tonumber(ARGV[1])

-- Both parts of a head, 0 where there is none.
local function parts(text)
  local held_revision, held_generation = string.match(type(text) == 'string' and text or '', '^(%d+)%.(%d+)$')
  if not held_revision or #held_revision > 15 or #held_generation > 15 then return 0, 0 end
  return tonumber(held_revision), tonumber(held_generation)
end

local reply = {}
local function tell(written, revision, generation, met)
  local place = #reply
  reply[place + 1], reply[place + 2], reply[place + 3], reply[place + 4] = written, revision, generation, met
end

for index = 1, #KEYS / 3 do
  local head_key, policy_key, subjects_key = KEYS[index * 3 - 2], KEYS[index * 3 - 1], KEYS[index * 3]
  local at = bodies + 2 + (index - 1) * 5
  local head = ARGV[at] .. '.' .. ARGV[at + 1]
  local revision, generation, has_subjects = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), ARGV[at + 4] == '1'
  local met = redis.pcall('GET', head_key)
  if type(met) ~= 'string' then met = '' end
  local held_revision, held_generation = parts(met)

  local is_older = revision < held_revision or generation < held_generation
  local is_equal = revision == held_revision and generation == held_generation
  if is_older or (is_equal and redis.call('EXISTS', policy_key) == 1) then
    tell('0', string.format('%.0f', held_revision), string.format('%.0f', held_generation), met)
  else
    local subjects_of = redis.pcall('HGET', subjects_key, '#revision')
    if type(subjects_of) ~= 'string' then subjects_of = '' end
    if has_subjects and subjects_of ~= head then
      tell('-1', string.format('%.0f', held_revision), string.format('%.0f', held_generation), met)
    else
      redis.call('SET', policy_key, ARGV[at + 2] .. ARGV[1 + tonumber(ARGV[at + 3])])
      redis.call('SET', head_key, head)
      local subjects_revision, subjects_generation = parts(subjects_of)
      local is_begun_by_newer = subjects_revision > revision or subjects_generation > generation
      if not has_subjects and not is_begun_by_newer then
        redis.call('UNLINK', subjects_key)
      end
      tell('1', ARGV[at], ARGV[at + 1], met)
    end
  end
end
return reply
