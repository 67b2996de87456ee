-- Sliding counter: the window that was charged gets its units back while it is one of the two.
local function refund_counter(key, text, window_ms, start_ms, units)
  local left, middle, right = match(text, '^(%d+):(%d+):(%d+)$')
  local previous, current, start = exact(left), exact(middle), exact(right)
  if not previous or not current or not start or start_ms > now or now - start_ms >= 2 * window_ms then return 0 end
  if start == start_ms then current = max(0, current - units)
  elseif start == start_ms + window_ms then previous = max(0, previous - units)
  else return 0 end
  local running = now - fmod(now, window_ms)
  local inside, counted = previous, current
  if start < running then inside, counted = start >= running - window_ms and current or 0, 0 end
  local reset = running + (counted > 0 and 2 or 1) * window_ms - now
  return write(key, inside + counted, format('%.0f:%.0f:%.0f', previous, current, start), ttl_of(reset, GRACE_MS))
end
