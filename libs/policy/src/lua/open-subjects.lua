--[[ open-subjects: begin to publish the overrides of single subjects, unless something newer was begun.

KEYS[1]  head        KEYS[2]  subjects; both carry the tenant's hash tag
ARGV[1]  revision    ARGV[2]  generation         ARGV[3]  number of buckets
Reply    { 0 } when the head or another publisher is ahead in revision or generation, else { 1, then the digest held of each bucket or false }
Guarantee  afterwards a publisher with less can write nothing: its chunks name another `#revision`. A key of another type holds nothing and is replaced.
]]
local function parts(text)
  local revision, generation = string.match(type(text) == 'string' and text or '', '^(%d+)%.(%d+)$')
  if not revision or #revision > 15 or #generation > 15 then return 0, 0 end
  return tonumber(revision), tonumber(generation)
end
local revision, generation = tonumber(ARGV[1]), tonumber(ARGV[2])
if type(redis.pcall('HLEN', KEYS[2])) == 'table' then redis.call('DEL', KEYS[2]) end
for _, held in ipairs({ redis.pcall('GET', KEYS[1]) or '', redis.call('HGET', KEYS[2], '#revision') or '' }) do
  local held_revision, held_generation = parts(held)
  if revision < held_revision or generation < held_generation then
    return { 0 }
  end
end
redis.call('HSET', KEYS[2], '#revision', ARGV[1] .. '.' .. ARGV[2])
local reply = { 1 }
for bucket = 1, tonumber(ARGV[3]) do
  reply[bucket + 1] = redis.call('HGET', KEYS[2], '#' .. bucket)
end
return reply
