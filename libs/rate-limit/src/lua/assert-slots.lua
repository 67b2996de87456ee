--[[ assert-slots: write what one process holds of some counters, as whole counts, with a new lease.

KEYS[i]  slots of counter i; all carry one hash tag
ARGV[1]  '' for Redis TIME, or now in ms (test clocks only; release builds never send it)
ARGV[2]  incarnation            ARGV[3]  lease_ms            ARGV[4]  sequence of this write within the process
ARGV     then per counter: count, 1 | 0    1 in a generation after a loss of data

Reply    { 1 | 0 per counter }   0 where a later word of the same process is there already: nothing was written
State    hash incarnation -> "count:lease_until_ms:sequence", `#since` when the first word of a new generation came
TTL      lease + 60 s; 40 days in a new generation, so that `#since` is found however seldom a process calls
Guarantee  never judges: what is held is held, over the limit too. A count of 0 is kept for a lease, so that a command that got stuck on its way
         cannot bring back an older count. A key of another type is replaced. Repeats are harmless.
]]
--@include now.lua
local incarnation, lease_ms, sequence = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local replies = {}
for i = 1, #KEYS do
  local key, count, is_regenerated = KEYS[i], ARGV[3 + 2 * i], ARGV[4 + 2 * i] == '1'
  local text = redis.pcall('HGET', key, incarnation)
  if type(text) == 'table' then
    redis.call('DEL', key)
    text = false
  end
  local written = text and tonumber(string.match(text, '^%d+:%d+:(%d+)$'))
  if written and written > sequence then
    replies[i] = 0
  else
    redis.call('HSET', key, incarnation, string.format('%s:%.0f:%.0f', count, now + lease_ms, sequence))
    if is_regenerated then redis.call('HSETNX', key, '#since', string.format('%.0f', now)) end
    redis.call('PEXPIRE', key, string.format('%.0f', is_regenerated and 3456000000 or lease_ms + 60000))
    replies[i] = 1
  end
end
return replies
