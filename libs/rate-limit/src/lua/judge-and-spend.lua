--[[ judge-and-spend: decide a batch of checks; each spends all of its charges or none (M1, M2, M4).

KEYS, in order
  per tenant entry   head, policy, subjects (none of a known head of '*')
  per charge         counter                (bucket, window)
                     counter, base          (quota)
                     counter                (lane, directly after its quota)
ARGV, in order
  [1]                '' for Redis TIME, or now in ms (test clocks only; release builds never send it)
  [2] [3]            number of tenant entries, number of checks
  [4]                letters of the kinds of parts/ that the batch holds, '' for none
  per tenant entry   known head, segment from_ms, segment until_ms, number of subject fields, the fields
                     '*' as the known head: no head is read; the segment holds all the same
  per check          index of its tenant entry (1-based), number of charges (a lane counts as one)
    per charge       kind, a, b, c, cost    five arguments always
      'b' bucket     limit, window_ms, capacity                       (token bucket and GCRA)
      'w' window     limit, window_ms, 'e' epoch | 'f' first-hit
      'q' quota      allowance or -1, 'r' | 't' | 'b', or 't:ceiling' | 'b:ceiling', period_end_ms
      'l' lane       limit, window_ms, capacity                       bucket judged only when the quota before it is past its allowance
      's' counter    limit, window_ms, ''                             (sliding counter)
      'g' log        limit, window_ms, ''                             (sliding log)
      'u' queue      limit, window_ms, 'capacity:max_wait_ms'         (leaky bucket) extra: ms until the call departs, when allowed
      'i' retry      max, window_ms, repeat_cost; first in its check         (Idempotency-Key) extra: what the others cost at most
      'p' penalty    strikes, 'within_ms:ban_ms:factor:max_ban_ms', forgive_after_ms; directly after its rate
      'c' slot       limit, what the caller holds beside this batch, see parts/slot.lua
  All numbers are integers in decimal, 0 .. 2^53-1; the caller has validated them.

Reply  { now_ms, answer of check 1, answer of check 2, ... }, integers except where noted
  { 1 | 0, then per charge: remaining, reset_after_ms, retry_after_ms, more_after_ms }   allowed | denied
      retry_after_ms: 0 passes, > 0 wait, -1 never (cost above capacity). A lane that was not judged answers -1 in all four.
      A kind of parts/ answers five: these four and its extra, -1 where it has none.
  { 2, head, policy or false, one value or false per subject field }   stale: nothing spent. Once per tenant entry; later checks of it answer { 2 }
  { 3 }   store time outside the segment: nothing spent
  { 4 }   head absent: nothing spent

Rich    a kind of parts/ is a table of verbs, rich[letter]. They know now, the columns below and what is above the include; a state is theirs alone.
          load(key, a, b, c) -> state or nil         reads and settles the type; what is malformed counts as untouched (nil)
          judge(state, a, b, c, cost, claimed, closed_ms, i) -> retry_ms, next, cap      next: the state with claimed + cost on it, where it passes;
                                                     cap or nil: what every later charge of the check but a slot costs at most
          deny(state, a, b, c, i) -> state or nil    what a denied check of cost > 0 leaves behind, where that differs: a time re-based after a step back
                                                     of the clock, a strike. Also for a state of nil. Called once the whole check is judged, before report
          report(state, a, b, c, closed_ms, i, passes, cost) -> remaining, reset, more, ttl, extra or nil      state as it is now; ttl 0 when untouched
          write(key, state, ttl)                     all that is written; never before every key of the batch was read
        State is nil where there is none, and never changed in place: a denied check drops its next. i is the charge's place in its check, so that a
        kind may look at the columns of the line before it. A counter has one kind and one window: both are part of its name.
State   bucket "debt:time_ms" (debt in unit-milliseconds); window "count:start_ms"; quota "count". A value that is not that, or of another
        type, counts as untouched and is overwritten (a planted bad key heals).
TTL     bucket and window: time to untouched + 60 s; a denial lengthens a TTL that is too short for the current limit, and creates nothing.
        quota: period end + 48 h, at least 60 s.
Guarantee  a denied, stale, outside or lost check changes no count; after a step back of the clock a denial moves a counter's time, never its count.
        A charge of cost 0 writes nothing. No key name is built here. One bad key never fails its neighbours: every key is read, and its type
        settled, before the first write.
Speed    a closure costs about as much as a command here and would be made anew in each call, so the hot path is written out, in columns that
        grow by whole numbers: slot_* by counter of the batch, the others by charge of the check at hand. Figures in the code: 60000 grace,
        172800000 grace of a quota, 86400000 longest hint of a limit of 0, 9007199254740991 = 2^53-1.
Numbers  every sum and product below stays within 2^53-1 or is only compared, so that doubles are exact; a quotient is taken after its remainder.
]]
local call, try = redis.call, redis.pcall
local fmod, match, format, tonumber, type = math.fmod, string.match, string.format, tonumber, type
local KEYS, ARGV = KEYS, ARGV

--@include now.lua

--@include window-at.lua

local key_at, arg_at = 1, 5

-- Tenant entries: status 1 current, else the status that answers every check of the entry.
local entry_status, entry_closed_ms, entry_stale = { false }, { false }, { false }
for e = 1, tonumber(ARGV[2]) do
  local known, fields, head = ARGV[arg_at], tonumber(ARGV[arg_at + 3]), '*'
  if known ~= '*' then head = try('GET', KEYS[key_at]) end
  local until_ms = tonumber(ARGV[arg_at + 2])
  if type(head) ~= 'string' then
    entry_status[e] = 4
  elseif head ~= known then
    entry_status[e] = 2
    local policy, subjects = try('GET', KEYS[key_at + 1]), {}
    if fields > 0 then subjects = try('HMGET', KEYS[key_at + 2], unpack(ARGV, arg_at + 4, arg_at + 3 + fields)) end
    local answer = { 2, head, type(policy) == 'string' and policy }
    for f = 1, fields do answer[3 + f] = subjects[f] or false end
    entry_stale[e] = answer
  elseif now < tonumber(ARGV[arg_at + 1]) or now >= until_ms then
    entry_status[e] = 3
  else
    entry_status[e] = 1
    entry_closed_ms[e] = until_ms - now < 86400000 and until_ms - now or 86400000
  end
  key_at, arg_at = known == '*' and key_at or key_at + 3, arg_at + 4 + fields
end

-- Counters of this batch: checks on the same key see each other's spending, and each key is written once, at the end.
-- amount: debt or count. at: time_ms or start_ms, false for a quota. ttl: set where the counter is to be written. lengthen: the life a denial needs.
-- claimed: what the charges of one check want of it, whether they pass or not, for a wait has to suit them all. next: what it will be when all pass.
-- Columns are made with room for four, for growing a table from nothing costs five times its making.
local no = false
local slots, slot_count = {}, 0
local slot_key, slot_amount, slot_at, slot_exists = { no, no, no, no }, { no, no, no, no }, { no, no, no, no }, { no, no, no, no }
local slot_ttl, slot_lengthen, slot_check = { no, no, no, no }, { no, no, no, no }, { no, no, no, no }
local slot_claimed, slot_next, slot_next_at = { no, no, no, no }, { no, no, no, no }, { no, no, no, no }
-- plus - minus of the ledger's bases (M3), by key.
local nets

-- Charges of the check at hand. found: debt of a bucket at now; net of a quota. ttl: what the counter needs, 0 when untouched.
local kinds, of_slot, as, bs, cs = { no, no, no, no }, { no, no, no, no }, { no, no, no, no }, { no, no, no, no }, { no, no, no, no }
local costs, retries, found, ttls = { no, no, no, no }, { no, no, no, no }, { no, no, no, no }, { no, no, no, no }

-- Kinds of parts/ by letter. Made only where asked for: their closures would cost every other batch more than its commands do.
local rich, slot_rich, judge_rich, report_rich = false, nil, nil, nil
local asked = ARGV[4]
if asked ~= '' then
  --@include rich.lua
  if match(asked, 's') then
    --@include counter.lua
  end
  if match(asked, 'g') then
    --@include log.lua
  end
  if match(asked, 'u') then
    --@include queue.lua
  end
  if match(asked, 'c') then
    --@include slot.lua
  end
  if match(asked, 'i') then
    --@include retry.lua
  end
  if match(asked, 'p') then
    --@include penalty.lua
  end
end

local replies = { now }
for check = 1, tonumber(ARGV[3]) do
  local entry, charges = tonumber(ARGV[arg_at]), tonumber(ARGV[arg_at + 1])
  arg_at = arg_at + 2
  local status = entry_status[entry]
  if status ~= 1 then
    replies[check + 1] = entry_stale[entry] or { status }
    if status == 2 then entry_stale[entry] = false end
    for _ = 1, charges do
      key_at = key_at + (ARGV[arg_at] == 'q' and 2 or 1)
      arg_at = arg_at + 5
    end
  else
    local closed_ms, passes, is_past, cap = entry_closed_ms[entry], true, false, nil

    -- Judge: read every counter and settle who passes.
    for i = 1, charges do
      local kind, a, b, c, cost = ARGV[arg_at], tonumber(ARGV[arg_at + 1]), ARGV[arg_at + 2], ARGV[arg_at + 3], tonumber(ARGV[arg_at + 4])
      local key, slot, retry = KEYS[key_at], nil, 0
      arg_at, key_at = arg_at + 5, key_at + 1
      if kind == 'l' and is_past then kind = 'b' end
      if cap and cost > cap and kind ~= 'c' then cost = cap end
      if rich and rich[kind] then
        slot, retry, cap = judge_rich(check, i, kind, key, a, b, c, cost, closed_ms, cap)
      elseif kind ~= 'l' then
        slot = slots[key]
        if not slot then
          slot_count = slot_count + 1
          slot = slot_count
          local text = try('GET', key)
          local amount, at
          if type(text) == 'string' then
            -- At most 16 digits, and not above 2^53-1: what a double carries exactly.
            if kind == 'q' then
              amount, at = match(text, '^%d+$'), '0'
            else
              amount, at = match(text, '^(%d+):(%d+)$')
            end
            amount = amount and #amount < 17 and #at < 17 and tonumber(amount)
            at = amount and tonumber(at)
            if at and (amount > 9007199254740991 or at > 9007199254740991) then amount = false end
          end
          slots[key], slot_key[slot], slot_check[slot] = slot, key, 0
          if amount then
            slot_exists[slot], slot_amount[slot], slot_at[slot] = true, amount, at
          else
            slot_exists[slot], slot_amount[slot], slot_at[slot] = false, 0, 0
          end
          if kind == 'q' then slot_at[slot] = false end
        end
        local amount, at = slot_amount[slot], slot_at[slot]
        local claimed = 0
        if slot_check[slot] == check then claimed = slot_claimed[slot] end
        slot_check[slot], slot_claimed[slot] = check, claimed + cost

        if kind == 'b' then
          b, c = tonumber(b), tonumber(c)
          -- A debt of more than 2^53-1 would not be exact; such limits are refused at save and held back here.
          if c * b > 9007199254740991 then c = (9007199254740991 - fmod(9007199254740991, b)) / b end
          local debt = amount
          if now > at then
            -- Where the product leaves the exact range it is still above every debt: the bucket is empty all the same.
            local drained = (now - at) * a
            debt = drained >= amount and 0 or amount - drained
          end
          found[i] = debt
          if a == 0 or c == 0 then
            retry = closed_ms
          elseif cost > 0 then
            if cost > c - claimed then
              retry = -1
            else
              local wanted = (claimed + cost) * b
              local missing = wanted - (c * b - debt)
              if missing > 0 then
                local rest = fmod(missing, a)
                retry = rest == 0 and missing / a or (missing - rest) / a + 1
              else
                slot_next[slot], slot_next_at[slot] = debt + wanted, now
              end
            end
          end
        elseif kind == 'w' then
          b = tonumber(b)
          if a == 0 then
            retry = closed_ms
          elseif cost > a - claimed then
            if cost > 0 then retry = -1 end
          elseif cost > 0 then
            local count, start = window_at(amount, at, b, c)
            if cost > a - claimed - count then
              retry = start + b - now
            else
              slot_next[slot], slot_next_at[slot] = count + claimed + cost, start
            end
          end
        else
          c = tonumber(c)
          nets = nets or {}
          local base = KEYS[key_at]
          key_at = key_at + 1
          local net = nets[base]
          if not net then
            local pair = try('HMGET', base, 'plus', 'minus')
            local plus, minus = match(pair[1] or '', '^%d+$'), match(pair[2] or '', '^%d+$')
            plus, minus = plus and #plus < 17 and tonumber(plus) or 0, minus and #minus < 17 and tonumber(minus) or 0
            if plus > 9007199254740991 then plus = 0 end
            if minus > 9007199254740991 then minus = 0 end
            net = plus - minus
            nets[base] = net
          end
          found[i], is_past = net, false
          local used = net > 9007199254740991 - amount and 9007199254740991 or net + amount
          if used < 0 then used = 0 end
          local period_left_ms = c > now and c - now or 1
          local overage, most = b, b == 'r' and a
          if #b > 1 then
            overage, most = match(b, '^(.):(%d+)$')
            most = tonumber(most)
          end
          if a < 0 or cost == 0 then most = false end
          if a == 0 then
            retry = closed_ms
          elseif most and cost > most - claimed then
            retry = -1
          elseif most and cost > most - claimed - used
            or cost > 9007199254740991 - (used > amount and used or amount) - claimed then
            retry = period_left_ms
          else
            slot_next[slot], slot_next_at[slot] = amount + claimed + cost, false
            is_past = a > 0 and overage == 't' and (cost > 0 and cost or 1) > a - claimed - used
          end
        end
      end
      if retry ~= 0 then passes = false end
      kinds[i], of_slot[i], as[i], bs[i], cs[i], costs[i], retries[i] = kind, slot, a, b, c, cost, retry
    end

    -- Spend, when all pass.
    if passes then
      for i = 1, charges do
        if costs[i] > 0 and kinds[i] ~= 'l' and kinds[i] ~= 'p' then
          local slot = of_slot[i]
          slot_amount[slot], slot_at[slot], slot_exists[slot] = slot_next[slot], slot_next_at[slot], true
        end
      end
    end

    -- Report the counters as they are now.
    local answer, n = { passes and 1 or 0, nil, nil, nil, nil }, 1
    for i = 1, charges do
      local kind, slot, a, b, c = kinds[i], of_slot[i], as[i], bs[i], cs[i]
      local remaining, reset, more, ttl, extra = 0, closed_ms, closed_ms, 0, nil
      if kind == 'b' then
        if a > 0 and c > 0 then
          local debt = found[i]
          if passes and slot_claimed[slot] > 0 then debt = slot_amount[slot] end
          local room = c * b - debt
          if debt == 0 then
            remaining, reset, more = c, 0, 0
          else
            local rest = fmod(debt, a)
            reset = rest == 0 and debt / a or (debt - rest) / a + 1
            ttl = (reset < 9007199254680991 and reset or 9007199254680991) + 60000
            local to_next_unit = b - room
            if room > 0 then
              rest = fmod(room, b)
              remaining, to_next_unit = (room - rest) / b, b - rest
            end
            rest = fmod(to_next_unit, a)
            more = rest == 0 and to_next_unit / a or (to_next_unit - rest) / a + 1
          end
        end
      elseif kind == 'w' then
        if a > 0 then
          local count, start = window_at(slot_amount[slot], slot_at[slot], b, c)
          if count == 0 then
            remaining, reset, more = a, 0, 0
          else
            if count < a then remaining = a - count end
            reset = start + b - now
            more, ttl = reset, reset + 60000
          end
        end
      elseif kind == 'q' then
        reset = c > now and c - now or 0
        ttl = c - now
        if ttl < -172740000 then ttl = -172740000 elseif ttl > 9007199081940991 then ttl = 9007199081940991 end
        ttl = ttl + 172800000
        if a ~= 0 then
          local net, amount = found[i], slot_amount[slot]
          local used = net > 9007199254740991 - amount and 9007199254740991 or net + amount
          local allowance = a > 0 and a or 9007199254740991
          remaining, more = allowance, 0
          if used > 0 then remaining, more = used < allowance and allowance - used or 0, reset end
        end
      elseif kind == 'l' then
        remaining, reset, retries[i], more = -1, -1, -1, -1
      else
        remaining, reset, more, ttl, extra = report_rich(i, kind, slot, a, b, c, closed_ms, passes, costs[i])
      end
      answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = remaining, reset, retries[i], more
      n = n + 4
      if extra then
        n = n + 1
        answer[n] = extra
      end
      ttls[i] = ttl
      if passes and costs[i] > 0 and kind ~= 'l' and kind ~= 'p' then slot_ttl[slot] = ttl end
    end
    replies[check + 1] = answer

    -- A denial creates nothing and moves no count; it re-bases a time that is ahead of the clock, and keeps the counter alive long enough.
    if not passes then
      for i = 1, charges do
        local slot, kind, a, b, c, ttl = of_slot[i], kinds[i], as[i], bs[i], cs[i], ttls[i]
        if costs[i] > 0 and kind ~= 'l' and slot_exists[slot] then
          local at, is_ahead = slot_at[slot], false
          if at and a > 0 and slot_amount[slot] > 0 then
            if kind == 'b' then is_ahead = c > 0 and at > now
            elseif kind == 'w' then is_ahead = at > now - (c == 'e' and fmod(now, b) or 0) end
          end
          if is_ahead then
            if kind == 'b' then slot_at[slot] = now
            else slot_amount[slot], slot_at[slot] = window_at(slot_amount[slot], at, b, c) end
            slot_ttl[slot] = ttl
          elseif slot_ttl[slot] then
            if ttl > slot_ttl[slot] then slot_ttl[slot] = ttl end
          elseif ttl > (slot_lengthen[slot] or -1) then
            slot_lengthen[slot] = ttl
          end
        end
      end
    end
  end
end

-- Only now is anything written. SET comes first: when memory is out it is refused at the first one, before any change.
local now_text
for slot = 1, slot_count do
  local ttl = slot_ttl[slot]
  if ttl and slot_rich and slot_rich[slot] then
    slot_rich[slot].write(slot_key[slot], slot_amount[slot], format('%.0f', ttl))
  elseif ttl then
    local at, text = slot_at[slot], nil
    if at == now then
      now_text = now_text or format('%.0f', now)
      text = format('%.0f:%s', slot_amount[slot], now_text)
    elseif at then text = format('%.0f:%.0f', slot_amount[slot], at)
    else text = format('%.0f', slot_amount[slot]) end
    call('SET', slot_key[slot], text, 'PX', format('%.0f', ttl))
  end
end
for slot = 1, slot_count do
  local ttl = slot_lengthen[slot]
  if ttl and not slot_ttl[slot] and call('PTTL', slot_key[slot]) < ttl then
    call('PEXPIRE', slot_key[slot], format('%.0f', ttl > 60000 and ttl or 60000))
  end
end
return replies
