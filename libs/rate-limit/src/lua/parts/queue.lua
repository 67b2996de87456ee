--[[ 'u' leaky bucket: a schedule, string "debt:time_ms:free_at_ms:rest:limit". The debt, in unit-ms, bounds the queue: it drains `limit` a ms.
free_at_ms + rest / limit is the instant from which the outflow is free; a call departs then, or now, rounded up to the ms. State as stored, a table.
c = 'capacity:max_wait_ms'. ]]
do
  -- ms until the charge departs, by charge of the check at hand.
  local waits = {}

  local function numbers(window_ms, c)
    local capacity, max_wait = match(c, '^(%d+):(%d+)$')
    window_ms, capacity = tonumber(window_ms), tonumber(capacity)
    -- A debt of more than 2^53-1 would not be exact; such limits are refused at save and held back here.
    local most = floor_divide(9007199254740991, window_ms)
    return window_ms, capacity < most and capacity or most, tonumber(max_wait)
  end

  -- Debt, and the instant from which the outflow is free, as of now. A step back of the clock takes the instant with it.
  local function settle(state, limit)
    if not state then return 0, now, 0 end
    local debt, at, free_at, rest = state[1], state[2], state[3], state[4]
    if at > now then
      free_at = free_at > at - now and free_at - (at - now) or 0
    else
      local drained = (now - at) * limit
      debt = drained >= debt and 0 or debt - drained
    end
    -- A rest counts in parts of its own limit: those queued keep their times, the next one gives up less than a ms.
    if limit ~= state[5] and rest > 0 then free_at, rest = free_at + 1, 0 end
    if free_at < now then return debt, now, 0 end
    return debt, free_at, rest
  end

  -- units x window_ms / limit later, exactly. rest < limit.
  local function later(at, rest, units, window_ms, limit)
    local part = fmod(units * window_ms, limit)
    local whole = (units * window_ms - part) / limit
    if rest >= limit - part then
      whole, rest = whole + 1, rest - (limit - part)
    else
      rest = rest + part
    end
    if whole > 9007199254740991 - at then return 9007199254740991, 0 end
    return at + whole, rest
  end

  rich['u'] = {
    load = function(key)
      local text = try('GET', key)
      if type(text) ~= 'string' then return nil end
      local one, two, three, four, five = match(text, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
      local debt, at, free_at, rest, limit = exact(one), exact(two), exact(three), exact(four), exact(five)
      if not debt or not at or not free_at or not rest or not limit or rest >= limit then return nil end
      return { debt, at, free_at, rest, limit }
    end,
    judge = function(state, limit, b, c, cost, claimed, closed_ms, i)
      local window_ms, capacity, max_wait = numbers(b, c)
      if limit == 0 or capacity == 0 then return closed_ms end
      waits[i] = 0
      if cost == 0 then return 0 end
      if cost > capacity - claimed then return -1 end
      -- What the check's earlier charges take of the outflow has to pass first, however long the client waits.
      if claimed > 0 and ceil_divide(claimed * window_ms, limit) > max_wait then return -1 end
      local debt, free_at, rest = settle(state, limit)
      local departs_at, departs_rest = later(free_at, rest, claimed, window_ms, limit)
      local wait, total, retry = departs_at - now + (departs_rest > 0 and 1 or 0), claimed + cost, 0
      local missing = total * window_ms - (capacity * window_ms - debt)
      if missing > 0 then retry = ceil_divide(missing, limit) end
      if wait - max_wait > retry then retry = wait - max_wait end
      if retry > 0 then return retry end
      waits[i] = wait
      free_at, rest = later(free_at, rest, total, window_ms, limit)
      return 0, { debt + total * window_ms, now, free_at, rest, limit }
    end,
    deny = function(state, limit, b, c)
      local _, capacity = numbers(b, c)
      if limit == 0 or capacity == 0 or not state or state[2] <= now then return nil end
      local back = state[2] - now
      return { state[1], now, state[3] > back and state[3] - back or 0, state[4], state[5] }
    end,
    report = function(state, limit, b, c, closed_ms, i, passes)
      local window_ms, capacity = numbers(b, c)
      if limit == 0 or capacity == 0 then return 0, closed_ms, closed_ms, 0 end
      local debt, free_at, rest = settle(state, limit)
      local room, reset, extra = capacity * window_ms - debt, free_at - now + (rest > 0 and 1 or 0), passes and waits[i] or -1
      if debt == 0 then return capacity, reset, 0, reset > 0 and ttl_of(reset) or 0, extra end
      local drained = ceil_divide(debt, limit)
      if drained > reset then reset = drained end
      local remaining, to_next_unit = 0, window_ms - room
      if room > 0 then
        local part = fmod(room, window_ms)
        remaining, to_next_unit = (room - part) / window_ms, window_ms - part
      end
      return remaining, reset, ceil_divide(to_next_unit, limit), ttl_of(reset), extra
    end,
    write = function(key, state, ttl)
      call('SET', key, format('%.0f:%.0f:%.0f:%.0f:%.0f', state[1], state[2], state[3], state[4], state[5]), 'PX', ttl)
    end,
  }
end
