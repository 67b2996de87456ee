--[[ beat: write a node's word with the store's own times.

KEYS[1]  hash of nodes
ARGV[1]  incarnation
ARGV[2]  its word as a JSON object without `seenAtMs` and `appliedAtMs`, not empty
ARGV[3]  store time in ms at which its feed position was applied, '' for now
Reply    { store time in ms, appliedAtMs as written }
Guarantee  both times come from this store: a node's own clock cannot age or refresh its receipt.
]]
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local applied_at_ms = ARGV[3] == '' and now_ms or tonumber(ARGV[3])
local word = string.format('%s,"seenAtMs":%.0f,"appliedAtMs":%.0f}', string.sub(ARGV[2], 1, -2), now_ms, applied_at_ms)
redis.call('HSET', KEYS[1], ARGV[1], word)
return { now_ms, applied_at_ms }
