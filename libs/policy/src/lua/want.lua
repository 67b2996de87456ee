--[[ want: put one member into the bounded set of what guards missed.

KEYS[1]  set of wanted members
ARGV[1]  member          ARGV[2]  most members, integer > 0
Reply    1 when it is in the set, 0 when the set is full: the next call asks again
Guarantee  the set never holds more than ARGV[2] members through this script, whatever strangers ask for.
]]
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then
  return 1
end
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('SADD', KEYS[1], ARGV[1])
return 1
