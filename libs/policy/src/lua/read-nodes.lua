--[[ read-nodes: every node's last word, and the time by the clock that dated them.

KEYS[1]  hash of nodes
Reply    { store time in ms, { incarnation, word, incarnation, word, ... } }
Guarantee  reads only. The time is of the server that holds the hash, as in `beat`: another node of a cluster has a clock of its own.
]]
local time = redis.call('TIME')
return { tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000), redis.call('HGETALL', KEYS[1]) }
