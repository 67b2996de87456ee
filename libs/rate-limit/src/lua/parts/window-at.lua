-- Count and start of the window running at now; after a step back of the clock the start is re-based and the count kept.
local function window_at(count, start, window_ms, alignment)
  if alignment == 'e' then
    local current = now - fmod(now, window_ms)
    return start >= current and count or 0, current
  end
  if count == 0 or now - start >= window_ms then return 0, now end
  return count, start < now and start or now
end
