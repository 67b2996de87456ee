-- 'p' strikes and bans of a rate's subject: string "strikes:first_strike_ms:level:until_ms:last_ban_ms", directly after its rate and of its cost.
-- a: strikes. b: "within_ms:ban_ms:factor:max_ban_ms". c: forgive_after_ms. State { strikes, first_strike_ms, level, until_ms, last_ban_ms,
-- level of the ban that this batch's denial began or 0, what deny left }, settled as of now. Reports that level and the rest of the ban where other kinds
-- report what remains and the reset. Written by a denial alone: a strike, or a ban re-based after a step back of the clock.
do
  local function numbers(text)
    local within, ban, factor, most = match(text, '^(%d+):(%d+):(%d+):(%d+)$')
    return tonumber(within), tonumber(ban), tonumber(factor), tonumber(most)
  end

  local function capped(sum)
    return sum < 9007199254740991 and sum or 9007199254740991
  end

  local function struck(state, strikes, within, ban, factor, most)
    local count, first, level, until_ms, last = 0, now, 0, 0, 0
    if state then count, first, level, until_ms, last = state[1], state[2], state[3], state[4], state[5] end
    if now - first >= within then count = 0 end
    if count == 0 then first = now end
    if count + 1 < strikes then return { count + 1, first, level, until_ms, last, 0, true } end
    local length, times = ban, 0
    while factor > 1 and times < level and length < most do
      length, times = length * factor, times + 1
    end
    if length > most then length = most end
    return { 0, now, capped(level + 1), capped(now + length), now, capped(level + 1), true }
  end

  rich['p'] = {
    load = function(key, _, _, forgive_after_ms)
      local text = try('GET', key)
      if type(text) ~= 'string' then return nil end
      local strikes, first, level, until_ms, last = match(text, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
      strikes, first, level, until_ms, last = exact(strikes), exact(first), exact(level), exact(until_ms), exact(last)
      if not (strikes and first and level and until_ms and last) then return nil end
      local is_ahead = first > now or last > now
      if first > now then first = now end
      if last > now then
        until_ms, last = capped(now + (until_ms > last and until_ms - last or 0)), now
      end
      if level > 0 and now >= until_ms and now - until_ms >= tonumber(forgive_after_ms) then return nil end
      return { strikes, first, level, until_ms, last, 0, false, is_ahead }
    end,
    judge = function(state)
      return state and state[4] > now and state[4] - now or 0, state
    end,
    deny = function(state, strikes, b, _, i)
      if state and state[4] > now or retries[i - 1] <= 0 then
        if state and state[8] then return { state[1], state[2], state[3], state[4], state[5], 0, true } end
        -- The next denial of the batch began no ban.
        return state and state[6] > 0 and { state[1], state[2], state[3], state[4], state[5], 0, true } or nil
      end
      return struck(state, strikes, numbers(b))
    end,
    report = function(state, _, b, forgive_after_ms, _, _, _, cost)
      if not state then return 0, 0, 0, 0 end
      local within = numbers(b)
      local rest = state[1] > 0 and state[2] + within - now or 0
      local bans = state[3] > 0 and state[4] - now + tonumber(forgive_after_ms) or 0
      if bans > rest then rest = bans end
      return cost > 0 and state[6] or 0, state[4] > now and state[4] - now or 0, 0, ttl_of(rest > 0 and rest or 0)
    end,
    write = function(key, state, ttl)
      if state and state[7] then
        call('SET', key, format('%.0f:%.0f:%.0f:%.0f:%.0f', state[1], state[2], state[3], state[4], state[5]), 'PX', ttl)
      end
    end,
  }
end
