-- 'p' strikes and bans of a rate's subject: string "strikes:first_strike_ms:level:until_ms:last_ban_ms", directly after its rate. a: strikes.
-- b: "within_ms:ban_ms:factor:max_ban_ms". c: forgive_after_ms.
-- State { strikes, first_strike_ms, level, until_ms, last_ban_ms }. Reports the level of a ban that this denial began, else 0, where other kinds report
-- what remains, and how long the subject is banned where they report the reset.
do
  local function in_exact_range(sum)
    return sum < 9007199254740991 and sum or 9007199254740991
  end

  local function ban_ms_at(level, ban, factor, most)
    local length = ban
    for _ = 1, level do
      if length >= most then return most end
      length = length * factor
    end
    return length < most and length or most
  end

  local began = {}

  rich['p'] = {
    load = function(key, _, _, forgive_after_ms)
      local text = try('GET', key)
      if type(text) ~= 'string' then return nil end
      local strikes, first, level, until_ms, last = match(text, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
      strikes, first, level, until_ms, last = exact(strikes), exact(first), exact(level), exact(until_ms), exact(last)
      if not strikes or not first or not level or not until_ms or not last then return nil end
      if until_ms <= now and now - until_ms >= tonumber(forgive_after_ms) then level = 0 end
      return { strikes, first, level, until_ms, last }
    end,
    judge = function(state)
      return state and state[4] > now and state[4] - now or 0, state
    end,
  }
end
