--[[ 'g' sliding log: list; element 0 the running sum, then "time_ms:units", oldest first, one entry a ms. An entry counts while now - time < window_ms.
State { sum, tail, log }: sum of the live units; tail, the units at now, written as the last entry; log, what was read of the list, the same for all
states of the key: the stored entries log.first .. log.last are live and stay, and log.freed has their running sums as far as log.summed. Entries
ahead of the clock are in the tail: re-based, kept.
A malformed entry counts as long expired; a sum that does not fit its entries heals when the last of them expires. ]]
do
  local CHUNK = 100
  -- A walk that has come this far goes on in longer steps.
  local LONG_CHUNK = 1000
  -- Units by their text: most entries of a walk have the same.
  local units_of = {}

  local function parsed(text)
    local left, right = match(text, '^(%d+):(%d+)$')
    local time, units = exact(left), exact(right)
    if not time or not units then return 0, 0 end
    return time, units
  end

  local function add(one, other)
    return one > 9007199254740991 - other and 9007199254740991 or one + other
  end

  -- A stored entry; the list is read from its head, a chunk at a time, only as far as needed.
  local function entry(log, at)
    local texts = log.texts
    while at > log.read do
      local chunk = call('LRANGE', log.key, log.read + 1, log.read + (log.read < LONG_CHUNK and CHUNK or LONG_CHUNK))
      for each = 1, #chunk do texts[log.read + each] = chunk[each] end
      log.read = log.read + #chunk
    end
    return texts[at]
  end

  -- Takes the entries at now, and those ahead of it, into the tail.
  local function rebase(log, time, units)
    if time < now then return 0 end
    log.last = log.last - 1
    if time == now then return units end
    log.is_ahead = true
    local tail, low, chunk = units, log.last + 1, nil
    while log.last > 0 do
      if log.last < low then
        low = log.last > CHUNK and log.last - CHUNK + 1 or 1
        chunk = call('LRANGE', log.key, low, log.last)
      end
      local before, more = parsed(chunk[log.last - low + 1])
      if before < now then break end
      tail, log.last = add(tail, more), log.last - 1
    end
    return tail
  end

  -- ms until `units` have expired, from the oldest on. What was walked stays summed: a crowd of denials in one batch costs one walk.
  local function wait_for(state, units, window_ms)
    local log = state[3]
    if not log or log.first > log.last then return state[2] > 0 and window_ms or log.newest + window_ms - now end
    local freed, summed = log.freed, log.summed
    local total = freed[summed]
    while summed < log.last and total < units do
      summed = summed + 1
      local text = match(entry(log, summed), '^%d+:(%d+)$') or '0'
      local more = units_of[text]
      if not more then
        more = exact(text) or 0
        units_of[text] = more
      end
      total = total + more
      freed[summed] = total
    end
    log.summed = summed
    if total < units then return state[2] > 0 and window_ms or log.newest + window_ms - now end
    local low, high = log.first, summed
    while low < high do
      local middle = floor_divide(low + high, 2)
      if freed[middle] < units then low = middle + 1 else high = middle end
    end
    -- Planted entries may be in any order: a wait is never over already, nor is it a word for never.
    local wait = parsed(entry(log, low)) + window_ms - now
    return wait > 0 and wait or 1
  end

  -- Nothing stored stays.
  local function emptied(log)
    log.first, log.last, log.is_ahead = log.length, log.length - 1, false
    return { 0, 0, log }
  end

  rich['g'] = {
    load = function(key, _, window_ms)
      local head = try('LRANGE', key, 0, 15)
      if head.err then return nil end
      local sum = head[1] and exact(match(head[1], '^%d+$'))
      if not sum then return nil end
      window_ms = tonumber(window_ms)
      local log = { key = key, texts = {}, read = #head - 1, first = 1, last = #head - 1, length = #head, newest = 0, is_ahead = false, freed = {} }
      for at = 2, #head do log.texts[at - 1] = head[at] end
      if #head == 16 then
        log.length = call('LLEN', key)
        log.last = log.length - 1
      end
      if log.last == 0 then return emptied(log) end
      local time, units = parsed(log.last <= log.read and log.texts[log.last] or call('LINDEX', key, -1))
      if now - time >= window_ms then return emptied(log) end
      local tail = rebase(log, time, units)
      log.newest = tail > 0 and now or time
      while log.first <= log.last do
        local at, expired = parsed(entry(log, log.first))
        if now - at < window_ms then break end
        sum, log.first = expired < sum and sum - expired or 0, log.first + 1
      end
      log.summed, log.freed[log.first - 1] = log.first - 1, 0
      return sum > 0 and { sum, tail, log } or emptied(log)
    end,
    judge = function(state, limit, window_ms, _, cost, claimed, closed_ms)
      if limit == 0 then return closed_ms end
      if cost == 0 then return 0 end
      if cost > limit - claimed then return -1 end
      local total, sum = claimed + cost, state and state[1] or 0
      local missing = sum - (limit - total)
      if missing > 0 then return wait_for(state, missing, tonumber(window_ms)) end
      return 0, { sum + total, add(state and state[2] or 0, total), state and state[3] or false }
    end,
    -- Drops what has expired, and re-bases what is ahead of the clock.
    deny = function(state, limit)
      if limit == 0 or not state or state[1] == 0 or state[4] then return nil end
      local log = state[3]
      if not log or not log.is_ahead and log.first == 1 then return nil end
      return { state[1], state[2], log, true }
    end,
    report = function(state, limit, window_ms, _, closed_ms)
      if limit == 0 then return 0, closed_ms, closed_ms, 0 end
      if not state or state[1] == 0 then return limit, 0, 0, 0 end
      window_ms = tonumber(window_ms)
      local sum = state[1]
      local reset = state[2] > 0 and window_ms or state[3].newest + window_ms - now
      local missing = sum < limit and 1 or sum - limit + 1
      return sum < limit and limit - sum or 0, reset, wait_for(state, missing, window_ms), ttl_of(reset)
    end,
    write = function(key, state, ttl)
      local log, sum = state[3], format('%.0f', state[1])
      local tail = state[2] > 0 and format('%.0f:%.0f', now, state[2])
      if not log then
        call('DEL', key)
        call('RPUSH', key, sum, tail)
      else
        -- What grows comes first: when memory is out it is refused before any change.
        if tail and log.last + 1 < log.length then
          call('LSET', key, log.last + 1, tail)
          if log.last + 2 < log.length then call('LTRIM', key, 0, log.last + 1) end
        elseif tail then
          call('RPUSH', key, tail)
        end
        if log.first > 1 then call('LTRIM', key, log.first - 1, -1) end
        call('LSET', key, 0, sum)
      end
      call('PEXPIRE', key, ttl)
    end,
  }
end
