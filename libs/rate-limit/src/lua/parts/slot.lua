-- 'c' slots in use: hash incarnation -> "count:lease_until_ms:sequence". a: limit. b: what the caller holds beside this batch.
-- c: "incarnation:lease_ms:grace_ms:sequence:1 | 0", the last 1 in a generation after a loss of data.
-- State { others, own, since_ms or nil, order, ended } with order the caller's fields and ended the fields whose lease is over. Whole counts only, so
-- that a lost reply leaks nothing; a call that another of its own process has overtaken is denied, for its count is out of date.
do
  -- A field further ahead than any lease is from before a step back of the clock; its process writes it anew within a third of its lease.
  local LEASE_MOST_MS = 60000
  -- A process that meets a key of a new generation has to find `#since` however seldom it calls.
  local REGENERATED_MS = 3456000000

  local function rest_of_grace(state)
    if not state[4].is_regenerated then return 0 end
    local since = state[3]
    if not since or since > now then return state[4].grace_ms end
    local rest = since + state[4].grace_ms - now
    return rest > 0 and rest or 0
  end

  rich['c'] = {
    load = function(key, _, own, order)
      local incarnation, lease, grace, sequence, regenerated = match(order, '^(.-):(%d+):(%d+):(%d+):(%d)$')
      order = { incarnation = incarnation, lease_ms = tonumber(lease), grace_ms = tonumber(grace), sequence = tonumber(sequence), is_regenerated = regenerated == '1' }
      local others, since, ended = 0, nil, {}
      local fields = try('HGETALL', key)
      order.is_bad = fields.err ~= nil
      for f = 1, order.is_bad and 0 or #fields, 2 do
        local name, text = fields[f], fields[f + 1]
        local count, until_ms, written = match(text, '^(%d+):(%d+):(%d+)$')
        count, until_ms, written = exact(count), exact(until_ms), exact(written)
        if name == '#since' then
          since = exact(match(text, '^%d+$'))
        elseif name == incarnation then
          if written and written > order.sequence then order.is_overtaken = true end
        elseif not written or until_ms <= now then
          ended[#ended + 1] = name
        elseif until_ms > now + LEASE_MOST_MS then
          others, order.ahead = others + count, order.ahead or {}
          order.ahead[name] = format('%.0f:%.0f:%.0f', count, now + LEASE_MOST_MS, written)
        else
          others = others + count
        end
      end
      return { others, tonumber(own), since, order, ended }
    end,
    judge = function(state, limit, _, _, cost, claimed, closed_ms)
      if limit == 0 then return closed_ms end
      if cost == 0 then return 0 end
      if cost > limit - claimed then return -1 end
      local rest = rest_of_grace(state)
      if rest > 0 then return rest end
      if state[4].is_overtaken or cost > limit - claimed - state[1] - state[2] then return 1000 end
      return 0, { state[1], state[2] + claimed + cost, state[3], state[4], state[5], true }
    end,
    -- The first call of a new generation opens its grace.
    deny = function(state, limit)
      if limit > 0 and state[4].is_regenerated and (not state[3] or state[3] > now) then
        return { state[1], state[2], now, state[4], state[5], state[6] }
      end
    end,
    report = function(state, limit, _, _, closed_ms)
      if limit == 0 then return 0, closed_ms, closed_ms, 0 end
      local rest, used = rest_of_grace(state), state[1] + state[2]
      local ttl = state[4].is_regenerated and REGENERATED_MS or ttl_of(state[4].lease_ms)
      if rest > 0 then return 0, rest, rest, ttl end
      local hint = used > 0 and 1000 or 0
      return used < limit and limit - used or 0, hint, hint, ttl
    end,
    write = function(key, state, ttl)
      local order = state[4]
      if order.is_bad then call('DEL', key) end
      if state[6] then
        call('HSET', key, order.incarnation, format('%.0f:%.0f:%.0f', state[2], now + order.lease_ms, order.sequence))
      end
      if state[3] then call('HSET', key, '#since', format('%.0f', state[3])) end
      for name, text in pairs(order.ahead or {}) do call('HSET', key, name, text) end
      -- In steps: Lua hands on some 8,000 arguments at most, and an error here would come after the first write.
      for from = 1, #state[5], 1000 do
        call('HDEL', key, unpack(state[5], from, from + 999 < #state[5] and from + 999 or #state[5]))
      end
      call('PEXPIRE', key, ttl)
    end,
  }
end
