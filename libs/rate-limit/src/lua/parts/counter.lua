-- 's' sliding counter: string "previous:current:start_ms", windows aligned to the epoch. State { previous, current, start_ms } as of now.
do
  -- Where limit x window_ms passes 2^53-1 a product would not be exact; such limits are refused at save and held back here.
  local function held_back(units, window_ms)
    local most = floor_divide(9007199254740991, window_ms)
    return units < most and units or most
  end

  -- What of the older window is still inside, in whole units, rounded up.
  local function weighed(state, window_ms)
    return ceil_divide(state[1] * (window_ms - (now - state[3])), window_ms)
  end

  -- First ms at which a lone client gets cost <= limit.
  local function wait_for(cost, state, limit, window_ms)
    local previous, current, elapsed = state[1], state[2], now - state[3]
    local left = limit - current - cost
    if left >= 0 then
      if previous == 0 then return 0 end
      local inside = floor_divide(left * window_ms, previous)
      return inside >= window_ms - elapsed and 0 or window_ms - inside - elapsed
    end
    -- In the next window current is the older one.
    local inside = floor_divide((limit - cost) * window_ms, current)
    return window_ms - elapsed + (inside < window_ms and window_ms - inside or 0)
  end

  local function untouched(window_ms)
    return { 0, 0, now - fmod(now, window_ms) }
  end

  rich['s'] = {
    load = function(key, _, window_ms)
      local text = try('GET', key)
      if type(text) ~= 'string' then return nil end
      local left, middle, right = match(text, '^(%d+):(%d+):(%d+)$')
      local previous, current, start = exact(left), exact(middle), exact(right)
      if not previous or not current or not start then return nil end
      window_ms = tonumber(window_ms)
      previous, current = held_back(previous, window_ms), held_back(current, window_ms)
      local running = now - fmod(now, window_ms)
      if start > running then return { previous, current, running, true } end
      if start == running then return { previous, current, running } end
      return { start >= running - window_ms and current or 0, 0, running }
    end,
    judge = function(state, limit, window_ms, _, cost, claimed, closed_ms)
      if limit == 0 then return closed_ms end
      window_ms = tonumber(window_ms)
      limit = held_back(limit, window_ms)
      if cost == 0 then return 0 end
      if cost > limit - claimed then return -1 end
      state = state or untouched(window_ms)
      local wait = wait_for(claimed + cost, state, limit, window_ms)
      if wait > 0 then return wait end
      return 0, { state[1], state[2] + claimed + cost, state[3] }
    end,
    -- A start ahead of the clock is re-based, the counts kept.
    deny = function(state, limit)
      if limit > 0 and state and state[4] then return { state[1], state[2], state[3] } end
    end,
    report = function(state, limit, window_ms, _, closed_ms)
      if limit == 0 then return 0, closed_ms, closed_ms, 0 end
      window_ms = tonumber(window_ms)
      limit = held_back(limit, window_ms)
      if not state or state[1] + state[2] == 0 then return limit, 0, 0, 0 end
      local remaining = limit - state[2] - weighed(state, window_ms)
      if remaining < 0 then remaining = 0 end
      local reset = state[3] + window_ms - now
      if state[2] > 0 then reset = reset + window_ms end
      return remaining, reset, wait_for(remaining + 1, state, limit, window_ms), ttl_of(reset)
    end,
    write = function(key, state, ttl)
      call('SET', key, format('%.0f:%.0f:%.0f', state[1], state[2], state[3]), 'PX', ttl)
    end,
  }
end
