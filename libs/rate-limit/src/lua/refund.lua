--[[ refund: give back what admissions charged, never above the limit.

KEYS[i]  counter of admitted charge i
ARGV[1]  '' for Redis TIME, or now in ms (test clocks only; release builds never send it)
ARGV     then per charge: kind, a, b, units    four arguments always
  'b' bucket   limit, window_ms
  'w' window   window_ms, start_ms of the window that was charged
  'q' quota    period_end_ms, ''
  's' counter  window_ms, start_ms of the window that was charged
  'g' log      window_ms, at_ms of the admission
  'u' queue    limit, 'window_ms:departs_at_ms'
  All numbers are integers in decimal, 0 .. 2^53-1; the caller has validated them.

Reply    { 1 | 0 per charge }   1 when units came back; 0 when there was nothing to give back to: no counter, or another window by now
State, TTL, numbers   as in judge-and-spend; a counter that is untouched again is deleted
Guarantee  never below untouched; a bad key is left alone and fails nothing. At most once per admission is the caller's duty.
]]
local GRACE_MS = 60000
local QUOTA_GRACE_MS = 172800000
local MAX_EXACT = 9007199254740991

local fmod, max, min = math.fmod, math.max, math.min
local match, format = string.match, string.format

local function exact(text)
  if not text or #text > 16 then return nil end
  local value = tonumber(text)
  if value > MAX_EXACT then return nil end
  return value
end

local function ttl_of(wait_ms, grace_ms)
  return min(wait_ms, MAX_EXACT - grace_ms) + grace_ms
end

local function ceil_divide(a, b)
  local rest = fmod(a, b)
  if rest == 0 then return a / b end
  return (a - rest) / b + 1
end

--@include now.lua

local function write(key, amount, text, ttl)
  if amount == 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, text, 'PX', format('%.0f', ttl))
  end
  return 1
end

-- Draining and giving back are both subtractions that stop at 0, so their order does not matter: the time stays, and whoever judges next
-- drains with the limit of that day. Past 2^53-1 the products are only compared, and every debt is below them.
local function refund_bucket(key, text, limit, window_ms, units)
  local left, right = match(text, '^(%d+):(%d+)$')
  local debt, at = exact(left), exact(right)
  if not debt or not at or limit == 0 then return 0 end
  local back = units * window_ms
  debt = back >= debt and 0 or debt - back
  local drained = max(0, now - at) * limit
  local left_over = drained >= debt and 0 or debt - drained
  return write(key, left_over, format('%.0f:%.0f', debt, at), ttl_of(ceil_divide(left_over, limit), GRACE_MS))
end

local function refund_window(key, text, window_ms, start_ms, units)
  local left, right = match(text, '^(%d+):(%d+)$')
  local count, start = exact(left), exact(right)
  if not count or start ~= start_ms or start > now or now - start >= window_ms then return 0 end
  count = max(0, count - units)
  return write(key, count, format('%.0f:%.0f', count, start), ttl_of(start + window_ms - now, GRACE_MS))
end

--@include refund-counter.lua
--@include refund-log.lua
--@include refund-queue.lua

local function refund_quota(key, text, period_end_ms, units)
  local count = exact(match(text, '^%d+$'))
  if not count then return 0 end
  count = max(0, count - units)
  return write(key, count, format('%.0f', count), ttl_of(max(GRACE_MS - QUOTA_GRACE_MS, period_end_ms - now), QUOTA_GRACE_MS))
end

local replies = {}
for i = 1, #KEYS do
  local at = 4 * i - 2
  local kind, a, b, units = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local text = kind ~= 'g' and redis.pcall('GET', KEYS[i])
  if kind == 'g' then replies[i] = refund_log(KEYS[i], a, b, units)
  elseif type(text) ~= 'string' then replies[i] = 0
  elseif kind == 'b' then replies[i] = refund_bucket(KEYS[i], text, a, b, units)
  elseif kind == 'w' then replies[i] = refund_window(KEYS[i], text, a, b, units)
  elseif kind == 's' then replies[i] = refund_counter(KEYS[i], text, a, b, units)
  elseif kind == 'u' then replies[i] = refund_queue(KEYS[i], text, a, ARGV[at + 2], units)
  else replies[i] = refund_quota(KEYS[i], text, a, units) end
end
return replies
