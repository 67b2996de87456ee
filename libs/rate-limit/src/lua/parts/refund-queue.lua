-- Leaky bucket: the debt comes back; the outflow is free from the call's departure on where it was the last of the schedule and has not departed yet.
local function refund_queue(key, text, limit, b, units)
  local one, two, three, four, five = match(text, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
  local debt, at, free_at, rest, queued = exact(one), exact(two), exact(three), exact(four), exact(five)
  if not debt or not at or not free_at or not rest or not queued or rest >= queued then return 0 end
  local window_ms, departs_at = match(b, '^(%d+):(%d+)$')
  window_ms, departs_at = tonumber(window_ms), tonumber(departs_at)
  local amount = units * window_ms
  local part = fmod(amount, queued)
  local whole = (amount - part) / queued + (rest < part and 1 or 0)
  if queued == limit and departs_at > now and whole <= free_at then
    local from, from_rest = free_at - whole, rest < part and rest + (queued - part) or rest - part
    if from + (from_rest > 0 and 1 or 0) == departs_at then free_at, rest = from, from_rest end
  end
  debt = amount >= debt and 0 or debt - amount
  -- What is stored is drained and re-based by whoever judges next.
  local left, free_now = debt, free_at
  if at > now then
    free_now = max(0, free_at - (at - now))
  else
    local drained = (now - at) * queued
    left = drained >= debt and 0 or debt - drained
  end
  local wait = free_now < now and 0 or free_now - now + (rest > 0 and 1 or 0)
  wait = max(wait, ceil_divide(left, queued))
  return write(key, wait, format('%.0f:%.0f:%.0f:%.0f:%.0f', debt, at, free_at, rest, queued), ttl_of(wait, GRACE_MS))
end
