--[[ write-base: raises the base of one quota, which the ledger knows and its counter does not (M3).
KEYS    1 base (hash plus, minus)
ARGV    1 plus, 2 minus (whole units, at most 2^53-1), 3 ttl_ms
Reply   1 where a figure grew, 0 where the held ones were as large
Guarantee: each figure only grows, so that an older reading of the ledger that comes late changes nothing. What is no such hash is replaced.
]]
local key = KEYS[1]
if redis.call('TYPE', key).ok ~= 'hash' then redis.call('DEL', key) end
local grown = 0
for index, field in ipairs({'plus', 'minus'}) do
  local held = redis.call('HGET', key, field)
  held = held and string.match(held, '^%d+$') and tonumber(held) or -1
  if tonumber(ARGV[index]) > held then
    redis.call('HSET', key, field, ARGV[index])
    grown = 1
  end
end
redis.call('PEXPIRE', key, ARGV[3])
return grown
