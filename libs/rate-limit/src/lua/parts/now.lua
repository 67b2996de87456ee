-- Store time in ms, or that of a test clock.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  local micros = tonumber(time[2])
  now = tonumber(time[1]) * 1000 + (micros - micros % 1000) / 1000
end
