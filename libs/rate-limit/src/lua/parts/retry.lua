-- 'i' uses of an Idempotency-Key: string "uses:first_ms", first in its check. a: max uses at the lower cost. b: window_ms. c: repeat_cost.
-- State { uses, first_ms }. Where the key was used within the window, and fewer than max times since, repeat_cost is what the other charges of the check
-- are judged at, at most. Extra: that cost.
do
  local lower

  local function is_running(state, window_ms)
    return state and now - state[2] < window_ms
  end

  rich['i'] = {
    load = function(key)
      local text = try('GET', key)
      if type(text) ~= 'string' then return nil end
      local left, right = match(text, '^(%d+):(%d+)$')
      local uses, first = exact(left), exact(right)
      if not uses or not first then return nil end
      -- After a step back of the clock the start is re-based, the uses kept.
      return { uses, first < now and first or now }
    end,
    judge = function(state, max, window_ms, cost_of_repeat, cost)
      lower = nil
      if cost == 0 then return 0 end
      if not is_running(state, tonumber(window_ms)) then return 0, { 0, now } end
      if state[1] >= max then return 0, state end
      lower = tonumber(cost_of_repeat)
      return 0, { state[1] + 1, state[2] }, lower
    end,
    deny = function() end,
    report = function(state, max, window_ms)
      window_ms = tonumber(window_ms)
      if not is_running(state, window_ms) then return max, 0, 0, 0 end
      local reset = state[2] + window_ms - now
      return state[1] < max and max - state[1] or 0, reset, reset, ttl_of(reset), lower
    end,
    write = function(key, state, ttl)
      call('SET', key, format('%.0f:%.0f', state[1], state[2]), 'PX', ttl)
    end,
  }
end
