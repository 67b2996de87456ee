--[[ add-counts: add many counts to one hash, in one command instead of one for each.

KEYS  [1] hash
ARGV  [1] how long it lives from here on, in ms    [2] JSON object: count by field, integers of 1 .. 2^53-1
Reply the sum of the counts that could not be added (a field that holds no integer), as text; an error where the key is no hash: nothing was added
Not safe to repeat: what was added is added again.
]]
local key, dropped = KEYS[1], 0
for field, count in pairs(cjson.decode(ARGV[2])) do
  local reply = redis.pcall('HINCRBY', key, field, string.format('%.0f', count))
  if type(reply) == 'table' then
    if string.sub(reply.err, 1, 9) == 'WRONGTYPE' then return reply end
    dropped = dropped + count
  end
end
redis.call('PEXPIRE', key, ARGV[1])
return string.format('%.0f', dropped)
