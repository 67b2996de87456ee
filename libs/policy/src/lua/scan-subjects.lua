--[[ scan-subjects: names of the fields held, without their texts, a part at a time.

KEYS[1]  subjects
ARGV[1]  cursor, '0' at first        ARGV[2]  about how many at a time
Reply    { next cursor, '0' at the end, { field, ... } }
Guarantee  reads only; every field that stays is named at least once.
]]
local reply = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local names = {}
for index = 1, #reply[2], 2 do
  names[#names + 1] = reply[2][index]
end
return { reply[1], names }
