--[[ judge-plain: decide a batch of checks of buckets, windows and quotas, equal ones together; each spends all of its charges or none (M1, M2, M4).

What judge-and-spend.lua means for such checks, at a fraction of its cost: equal checks are one group, a rule is sent once, keys are read and written
together, and the figures of an answer are worked out by the caller from the state told here (ADR 19). What this script cannot answer, a stale head, goes
to the other one.

KEYS, in order
  heads              one per entry
  counters           buckets and windows, each once
  quotas             counters of quotas, each once
  bases              of each quota, in the same order
ARGV, in order
  [1]                '' for Redis TIME, or now in ms (test clocks only; release builds never send it)
  [2] .. [7]         number of heads, counters, quotas, groups, segments, rules
  [8]                the groups, packed in bytes of 0 .. 127; two of them are low + 128 * high
                       entry (two bytes; 0: no head is asked), segment - 1, checks - 1, charges, then per charge rule - 1 and place - 1 (two bytes each)
                       place: among the counters, or among the quotas where the rule is one
  per head           known head
  per segment        from_ms, until_ms
  per rule           kind, a, b, c, cost      as in judge-and-spend.lua, of the kinds 'b', 'w' and 'q'; no counter stands twice in one group
  All numbers are integers in decimal, 0 .. 2^53-1; the caller has validated them.

Reply  { now_ms, answer of group 1, answer of group 2, ... } flat, integers all
  n >= 0, then per charge its state: the first n checks of the group are allowed, the others denied; the state is that after all of them
      bucket: debt at now_ms      window: count, start_ms of the window at now_ms      quota: count, net (plus - minus) of its base
  -2  stale      -3  store time outside the segment      -4  head absent: nothing spent

State, TTL and guarantees are those of judge-and-spend.lua. Checks of a group are judged one after the other, before those of the next group: they came
together, so that any order is theirs.
Speed    a command costs 0.3 us beside its work. One counter is written by SET with PX, which is a command less; more by MSET and PEXPIRE, which is 0.1 us a key
        less. SET or MSET comes first of all writes: when memory is out it is refused before any change. Heads and counters take an MGET each: the guard's
        user may read the ones and write the others, and Redis wants one of its rights to cover a whole command.
]]
local call = redis.call
local byte, fmod, match, format, tonumber = string.byte, math.fmod, string.match, string.format, tonumber
local KEYS, ARGV = KEYS, ARGV

--@include now.lua

local head_count, counter_count, quota_count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local group_count, segment_count, packed = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[8]
local slot_count = counter_count + quota_count

-- MGET answers nothing for a value of another type, which counts as untouched and is overwritten.
local heads = head_count > 0 and call('MGET', unpack(KEYS, 1, head_count))
local texts = call('MGET', unpack(KEYS, head_count + 1, head_count + slot_count))

local at = 8 + head_count
local is_open = {}
for segment = 1, segment_count do
  is_open[segment] = now >= tonumber(ARGV[at + 1]) and now < tonumber(ARGV[at + 2])
  at = at + 2
end

-- Rules. size: capacity of a bucket in unit-milliseconds, units of a window, what a quota never passes or false. want: what one check adds to it.
local rules, has_window = {}, false
for rule = 1, tonumber(ARGV[7]) do
  local kind, a, b, c, cost = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], tonumber(ARGV[at + 5])
  at = at + 5
  if kind == 'b' then
    b, c = tonumber(b), tonumber(c)
    -- A debt of more than 2^53-1 would not be exact; such limits are refused at save and held back here.
    if c * b > 9007199254740991 then c = (9007199254740991 - fmod(9007199254740991, b)) / b end
    rules[rule] = { kind = kind, a = a, size = a > 0 and c * b or 0, want = cost * b }
  elseif kind == 'w' then
    has_window = true
    rules[rule] = { kind = kind, a = a, size = a, want = cost, b = tonumber(b), c = c }
  else
    local size, left = b == 'r' and a, tonumber(c) - now
    if #b > 1 then size = tonumber(match(b, ':(%d+)$')) end
    if a < 0 then size = false end
    if left < -172740000 then left = -172740000 end
    rules[rule] = { kind = kind, a = a, size = size, want = cost, life = left + 172800000 }
  end
end

-- Counters of this batch, read when first named. amount: debt or count. time: ms of a debt, start of a window, 0 for a quota.
-- life: ms, set where it is to be written; what is left of a debt (to the next whole ms) or a window, and a minute.
-- lengthen: the life a denial needs. What few batches need is made when it is needed.
local amounts, times, lives, lengthens, nets = {}, {}, {}, nil, nil

local count_at
if has_window then
--@include window-at.lua
  count_at = window_at
end

-- Charges of the group at hand. found: debt at now, count of the window at now with its start.
local rule_of, slot_of, found, starts = {}, {}, {}, has_window and {}
local replies, r, p = { now }, 1, 0
for _ = 1, group_count do
  local entry, entries, segment, fits, charges = byte(packed, p + 1, p + 5)
  entry, p, fits, r = entry + 128 * entries, p + 5, fits + 1, r + 1
  local status = is_open[segment + 1] and 1 or -3
  if entry > 0 then
    local head = heads[entry]
    if not head then status = -4 elseif head ~= ARGV[8 + entry] then status = -2 end
  end
  if status ~= 1 then
    replies[r] = status
    p = p + 4 * charges
  else
    -- Judge: how many of the equal checks does each counter let through?
    local checks = fits
    for i = 1, charges do
      local low, high, place, places = byte(packed, p + 1, p + 4)
      local rule, slot = rules[low + 128 * high + 1], place + 128 * places + 1
      local kind, size, want, room = rule.kind, rule.size, rule.want, nil
      p = p + 4
      if kind == 'q' then slot = counter_count + slot end
      local amount, time = amounts[slot], times[slot]
      if not amount then
        local text = texts[slot]
        amount, time = 0, 0
        if text then
          amount = false
          -- At most 16 digits, and not above 2^53-1: what a double carries exactly.
          if kind == 'q' then
            local count = match(text, '^%d+$')
            amount = count and #count < 17 and tonumber(count)
          else
            local left, right = match(text, '^(%d+):(%d+)$')
            if left and #left < 17 and #right < 17 then amount, time = tonumber(left), tonumber(right) end
          end
          if amount and (amount > 9007199254740991 or time > 9007199254740991) then amount = false end
          if not amount then texts[slot], amount, time = false, 0, 0 end
        end
        amounts[slot], times[slot] = amount, time
      end
      rule_of[i], slot_of[i] = rule, slot
      if kind == 'b' then
        if now > time then
          -- Where the product leaves the exact range it is still above every debt: the bucket is empty all the same.
          local drained = (now - time) * rule.a
          amount = drained >= amount and 0 or amount - drained
        end
        found[i] = amount
      elseif kind == 'w' then
        amount, starts[i] = count_at(amount, time, rule.b, rule.c)
        found[i] = amount
      else
        nets = nets or {}
        local net = nets[slot]
        if not net then
          local pair = redis.pcall('HMGET', KEYS[head_count + quota_count + slot], 'plus', 'minus')
          local plus, minus = match(pair[1] or '', '^%d+$'), match(pair[2] or '', '^%d+$')
          plus, minus = plus and #plus < 17 and tonumber(plus) or 0, minus and #minus < 17 and tonumber(minus) or 0
          if plus > 9007199254740991 then plus = 0 end
          if minus > 9007199254740991 then minus = 0 end
          net = plus - minus
          nets[slot] = net
        end
        local count = amount
        amount = net > 9007199254740991 - count and 9007199254740991 or net + count
        -- Never above 2^53-1; and of less than nothing used, the room is larger than the size.
        room = 9007199254740991 - (amount > count and amount or count)
        if size and size - amount < room then room = size - amount end
        if size and want > size then room = 0 end
      end
      if size == 0 or rule.a == 0 then
        fits = 0
      elseif want > 0 and fits > 0 then
        room = room or size - amount
        if fits * want > room then
          if room < want then fits = 0 else fits = (room - fmod(room, want)) / want end
        end
      end
    end

    -- Spend what passes, and tell the counters as they are then.
    replies[r] = fits
    for i = 1, charges do
      local rule, slot = rule_of[i], slot_of[i]
      local kind, want = rule.kind, rule.want
      if kind == 'b' then
        local debt = found[i]
        if fits > 0 and want > 0 then
          debt = debt + fits * want
          local left = debt / rule.a
          amounts[slot], times[slot], lives[slot] = debt, now, left + -left % 1 + 60000
        end
        replies[r + 1] = debt
        r = r + 1
      elseif kind == 'w' then
        local count, start = found[i], starts[i]
        if fits > 0 and want > 0 then
          count = count + fits * want
          amounts[slot], times[slot], lives[slot] = count, start, start + rule.b - now + 60000
        end
        replies[r + 1], replies[r + 2] = count, start
        r = r + 2
      else
        if fits > 0 and want > 0 then
          amounts[slot], lives[slot] = amounts[slot] + fits * want, rule.life
        end
        replies[r + 1], replies[r + 2] = amounts[slot], nets[slot]
        r = r + 2
      end
    end

    -- A denial creates nothing and moves no count; it re-bases a time that is ahead of the clock, and keeps the counter alive long enough.
    if fits < checks then
      for i = 1, charges do
        local rule, slot = rule_of[i], slot_of[i]
        local kind, a = rule.kind, rule.a
        if rule.want > 0 and (texts[slot] or lives[slot]) then
          local amount, time, life, is_ahead = amounts[slot], times[slot], 0, false
          if kind == 'b' then
            if rule.size > 0 then
              local debt = fits > 0 and amount or found[i]
              local left = debt / a
              if debt > 0 then life = left + -left % 1 + 60000 end
              is_ahead = amount > 0 and time > now
              if is_ahead then times[slot] = now end
            end
          elseif kind == 'q' then
            life = rule.life
          elseif a > 0 then
            local count, start = count_at(amount, time, rule.b, rule.c)
            if count > 0 then life = start + rule.b - now + 60000 end
            is_ahead = amount > 0 and time > (rule.c == 'e' and start or now)
            if is_ahead then amounts[slot], times[slot] = count, start end
          end
          if is_ahead then
            lives[slot] = life
          elseif lives[slot] then
            if life > lives[slot] then lives[slot] = life end
          else
            lengthens = lengthens or {}
            if life > (lengthens[slot] or -1) then lengthens[slot] = life end
          end
        end
      end
    end
  end
end

-- '%d' is exact to 2^53 and 0.2 us quicker than '%.0f'.
local function life_text(life)
  return format('%d', life < 9007199254740991 and life or 9007199254740991)
end

-- Only now is anything written.
local pairs_to_set, n, now_text, last = {}, 0, nil, nil
for slot = 1, slot_count do
  if lives[slot] then
    local time, text = times[slot], nil
    if slot > counter_count then
      text = format('%d', amounts[slot])
    elseif time == now then
      now_text = now_text or format(':%d', now)
      text = format('%d', amounts[slot]) .. now_text
    else
      text = format('%d:%d', amounts[slot], time)
    end
    pairs_to_set[n + 1], pairs_to_set[n + 2] = KEYS[head_count + slot], text
    last, n = slot, n + 2
  end
end
if n == 2 then
  call('SET', KEYS[head_count + last], pairs_to_set[2], 'PX', life_text(lives[last]))
elseif n > 0 then
  call('MSET', unpack(pairs_to_set, 1, n))
  for slot = 1, slot_count do
    local life = lives[slot]
    if life then call('PEXPIRE', KEYS[head_count + slot], life_text(life)) end
  end
end
if lengthens then
  for slot = 1, slot_count do
    local life = lengthens[slot]
    if life and not lives[slot] and call('PTTL', KEYS[head_count + slot]) < life then
      call('PEXPIRE', KEYS[head_count + slot], life_text(life > 60000 and life or 60000))
    end
  end
end
return replies
