-- Sliding log: the ms that was charged gets its units back while it counts. Stored as parts/log.lua says.
local function log_entry(text)
  local left, right = match(text or '', '^(%d+):(%d+)$')
  local time, units = exact(left), exact(right)
  if not time or not units then return 0, 0 end
  return time, units
end

local function refund_log(key, window_ms, at_ms, units)
  local head = redis.pcall('LRANGE', key, 0, 0)
  local sum = not head.err and head[1] and exact(match(head[1], '^%d+$'))
  if not sum or now - at_ms >= window_ms then return 0 end
  local last = redis.call('LLEN', key) - 1
  local low, high, text, counted = 1, last, nil, nil
  while low <= high do
    local middle = (low + high - fmod(low + high, 2)) / 2
    local found = redis.call('LINDEX', key, middle)
    local time, charged = log_entry(found)
    if time == at_ms then
      low, high, text, counted = middle, middle - 1, found, charged
    elseif time < at_ms then low = middle + 1
    else high = middle - 1 end
  end
  if not text then return 0 end
  local back = min(units, counted)
  local left, is_gone = max(0, sum - back), back == counted
  local newest_at = is_gone and low == last and last - 1 or last
  local newest = newest_at > 0 and log_entry(redis.call('LINDEX', key, newest_at))
  if left == 0 or not newest or now - newest >= window_ms then
    redis.call('DEL', key)
    return 1
  end
  if is_gone then redis.call('LREM', key, -1, text)
  else redis.call('LSET', key, low, format('%.0f:%.0f', at_ms, counted - back)) end
  redis.call('LSET', key, 0, format('%.0f', left))
  redis.call('PEXPIRE', key, format('%.0f', ttl_of(min(newest, now) + window_ms - now, GRACE_MS)))
  return 1
end
