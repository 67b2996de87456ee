--[[ judge-and-spend: decide a batch of checks; each spends all of its charges or none (M1, M2, M4).

KEYS, in order
  per tenant entry   head, policy, subjects
  per charge         counter                (bucket, window)
                     counter, base          (quota)
                     counter                (lane, directly after its quota)
ARGV, in order
  [1]                '' for Redis TIME, or now in ms (test clocks only; release builds never send it)
  [2] [3]            number of tenant entries, number of checks
  per tenant entry   known head, segment from_ms, segment until_ms, number of subject fields, the fields
  per check          index of its tenant entry (1-based), number of charges (a lane counts as one)
    per charge       kind, a, b, c, cost    five arguments always
      'b' bucket     limit, window_ms, capacity                       (token bucket and GCRA)
      'w' window     limit, window_ms, 'e' epoch | 'f' first-hit
      'q' quota      allowance or -1, 'r' | 't' | 'b', period_end_ms
      'l' lane       limit, window_ms, capacity                       bucket judged only when the quota before it is past its allowance
  All numbers are integers in decimal, 0 .. 2^53-1; the caller has validated them.

Reply  { now_ms, answer of check 1, answer of check 2, ... }, integers except where noted
  { 1 | 0, then per charge: remaining, reset_after_ms, retry_after_ms, more_after_ms }   allowed | denied
      retry_after_ms: 0 passes, > 0 wait, -1 never (cost above capacity). A lane that was not judged answers -1 in all four.
  { 2, head, policy or false, one value or false per subject field }   stale: nothing spent. Once per tenant entry; later checks of it answer { 2 }
  { 3 }   store time outside the segment: nothing spent
  { 4 }   head absent: nothing spent

State   bucket "debt:time_ms" (debt in unit-milliseconds); window "count:start_ms"; quota "count". A value that is not that, or of another
        type, counts as untouched and is overwritten (a planted bad key heals).
TTL     bucket and window: time to untouched + 60 s; a denial lengthens a TTL that is too short for the current limit, and creates nothing.
        quota: period end + 48 h, at least 60 s.
Guarantee  a denied, stale, outside or lost check changes no count; after a step back of the clock a denial moves a counter's time, never its count.
        A charge of cost 0 writes nothing. No key name is built here. One bad key never fails its neighbours: every key is read, and its type
        settled, before the first write.
Numbers  every sum and product below stays within 2^53-1 or is only compared, so that doubles are exact; a quotient is taken after its remainder.
]]
local GRACE_MS = 60000
local QUOTA_GRACE_MS = 172800000
local CLOSED_HINT_MAX_MS = 86400000
local MAX_EXACT = 9007199254740991

local fmod, max, min = math.fmod, math.max, math.min
local match, format = string.match, string.format

local function floor_divide(a, b)
  return (a - fmod(a, b)) / b
end

local function ceil_divide(a, b)
  local rest = fmod(a, b)
  if rest == 0 then return a / b end
  return (a - rest) / b + 1
end

local function ttl_of(wait_ms, grace_ms)
  return min(wait_ms, MAX_EXACT - grace_ms) + grace_ms
end

-- A figure of at most 16 digits that a double carries exactly, or nil.
local function exact(text)
  if not text or #text > 16 then return nil end
  local value = tonumber(text)
  if value > MAX_EXACT then return nil end
  return value
end

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  local micros = tonumber(time[2])
  now = tonumber(time[1]) * 1000 + floor_divide(micros, 1000)
end

-- Counters of this batch by key: checks on the same key see each other's spending, and each key is written once, at the end.
-- amount: debt, or count. at: time_ms, or start_ms. quota counters have no at.
local slots, order = {}, {}

local function slot_of(key, is_quota)
  local slot = slots[key]
  if slot then return slot end
  slot = { key = key, is_quota = is_quota, amount = 0, at = 0, exists = false, dirty = false, ttl = 0, lengthen = false, check = 0 }
  local text = redis.pcall('GET', key)
  if type(text) == 'string' then
    local amount, at
    if is_quota then
      amount, at = exact(match(text, '^%d+$')), 0
    else
      local left, right = match(text, '^(%d+):(%d+)$')
      amount, at = exact(left), exact(right)
    end
    if amount and at then slot.amount, slot.at, slot.exists = amount, at, true end
  end
  slots[key] = slot
  order[#order + 1] = slot
  return slot
end

local nets = {}

-- plus - minus of the ledger's base (M3).
local function net_of(key)
  local net = nets[key]
  if net then return net end
  net = 0
  local pair = redis.pcall('HMGET', key, 'plus', 'minus')
  if not pair.err then
    net = (exact(match(pair[1] or '', '^%d+$')) or 0) - (exact(match(pair[2] or '', '^%d+$')) or 0)
  end
  nets[key] = net
  return net
end

local function used_of(count, net)
  if net > MAX_EXACT - count then return MAX_EXACT end
  return max(0, net + count)
end

-- Debt of a bucket at now. Where the product leaves the exact range it is still above every debt: the bucket is empty all the same.
local function debt_of(slot, limit)
  if now <= slot.at then return slot.amount end
  local drained = (now - slot.at) * limit
  if drained >= slot.amount then return 0 end
  return slot.amount - drained
end

-- Count and start of the window running at now; after a step back of the clock the start is re-based and the count kept.
local function window_of(slot, window_ms, alignment)
  if alignment == 'e' then
    local start = now - fmod(now, window_ms)
    if slot.at >= start then return slot.amount, start end
    return 0, start
  end
  if slot.amount == 0 or now - slot.at >= window_ms then return 0, now end
  return slot.amount, min(slot.at, now)
end

local function capacity_of(capacity, window_ms)
  if capacity * window_ms > MAX_EXACT then return floor_divide(MAX_EXACT, window_ms) end
  return capacity
end

-- Each judge answers retry_after_ms; for a charge that passes it notes the counter as it will be when the whole check passes. slot.claimed is
-- what earlier charges of the check want on the same counter, whether they pass or not: a wait has to suit them all.
local function judge_bucket(slot, limit, window_ms, capacity, cost, closed_ms)
  if limit == 0 or capacity == 0 then return closed_ms end
  if cost == 0 then return 0 end
  capacity = capacity_of(capacity, window_ms)
  if cost > capacity - slot.claimed then return -1 end
  local debt = debt_of(slot, limit)
  local wanted = (slot.claimed + cost) * window_ms
  local missing = wanted - (capacity * window_ms - debt)
  if missing > 0 then return ceil_divide(missing, limit) end
  slot.next_amount, slot.next_at = debt + wanted, now
  return 0
end

local function judge_window(slot, limit, window_ms, alignment, cost, closed_ms)
  if limit == 0 then return closed_ms end
  if cost == 0 then return 0 end
  if cost > limit - slot.claimed then return -1 end
  local count, start = window_of(slot, window_ms, alignment)
  if cost > limit - slot.claimed - count then return start + window_ms - now end
  slot.next_amount, slot.next_at = count + slot.claimed + cost, start
  return 0
end

-- Answers also whether the quota is past its allowance, so that its lane decides.
local function judge_quota(slot, net, allowance, overage, period_end_ms, cost, closed_ms)
  if allowance == 0 then return closed_ms, false end
  local used = used_of(slot.amount, net)
  local period_left_ms = max(1, period_end_ms - now)
  if allowance > 0 and overage == 'r' and cost > 0 then
    if cost > allowance - slot.claimed then return -1, false end
    if cost > allowance - slot.claimed - used then return period_left_ms, false end
  end
  if cost > MAX_EXACT - max(used, slot.amount) - slot.claimed then return period_left_ms, false end
  slot.next_amount, slot.next_at = slot.amount + slot.claimed + cost, 0
  return 0, allowance > 0 and overage == 't' and max(cost, 1) > allowance - slot.claimed - used
end

-- Each report answers remaining, reset_after_ms, more_after_ms and the TTL that the counter needs, 0 when it is untouched.
local function report_bucket(slot, limit, window_ms, capacity, closed_ms)
  if limit == 0 or capacity == 0 then return 0, closed_ms, closed_ms, 0 end
  local debt = debt_of(slot, limit)
  local room = capacity_of(capacity, window_ms) * window_ms - debt
  if debt == 0 then return room / window_ms, 0, 0, 0 end
  local reset_after_ms = ceil_divide(debt, limit)
  local ttl = ttl_of(reset_after_ms, GRACE_MS)
  if room <= 0 then return 0, reset_after_ms, ceil_divide(window_ms - room, limit), ttl end
  local rest = fmod(room, window_ms)
  return (room - rest) / window_ms, reset_after_ms, ceil_divide(window_ms - rest, limit), ttl
end

local function report_window(slot, limit, window_ms, alignment, closed_ms)
  if limit == 0 then return 0, closed_ms, closed_ms, 0 end
  local count, start = window_of(slot, window_ms, alignment)
  if count == 0 then return limit, 0, 0, 0 end
  local reset_after_ms = start + window_ms - now
  return max(0, limit - count), reset_after_ms, reset_after_ms, ttl_of(reset_after_ms, GRACE_MS)
end

local function report_quota(slot, net, allowance, period_end_ms, closed_ms)
  local period_left_ms = max(0, period_end_ms - now)
  local ttl = ttl_of(max(GRACE_MS - QUOTA_GRACE_MS, period_end_ms - now), QUOTA_GRACE_MS)
  if allowance == 0 then return 0, period_left_ms, closed_ms, ttl end
  if allowance < 0 then allowance = MAX_EXACT end
  local used = used_of(slot.amount, net)
  return max(0, allowance - used), period_left_ms, used == 0 and 0 or period_left_ms, ttl
end

local key_at, arg_at = 1, 4

local entries = {}
for e = 1, tonumber(ARGV[2]) do
  local fields = tonumber(ARGV[arg_at + 3])
  entries[e] = {
    key_at = key_at, known = ARGV[arg_at], from_ms = tonumber(ARGV[arg_at + 1]), until_ms = tonumber(ARGV[arg_at + 2]),
    fields_at = arg_at + 4, fields = fields,
  }
  key_at, arg_at = key_at + 3, arg_at + 4 + fields
end

local function value_or_false(reply)
  return type(reply) == 'string' and reply
end

-- 1 current, else the status that answers every check of the entry.
local function status_of(entry)
  entry.head = value_or_false(redis.pcall('GET', KEYS[entry.key_at]))
  if not entry.head then return 4 end
  if entry.head ~= entry.known then return 2 end
  if now < entry.from_ms or now >= entry.until_ms then return 3 end
  return 1
end

local function stale_answer(entry)
  if entry.is_told then return { 2 } end
  entry.is_told = true
  local answer = { 2, entry.head, value_or_false(redis.pcall('GET', KEYS[entry.key_at + 1])) }
  local subjects = {}
  if entry.fields > 0 then
    subjects = redis.pcall('HMGET', KEYS[entry.key_at + 2], unpack(ARGV, entry.fields_at, entry.fields_at + entry.fields - 1))
  end
  for f = 1, entry.fields do answer[3 + f] = subjects[f] or false end
  return answer
end

local function skip_charges(charges)
  for _ = 1, charges do
    key_at = key_at + (ARGV[arg_at] == 'q' and 2 or 1)
    arg_at = arg_at + 5
  end
end

-- Charges of the check at hand, read once into columns that every check uses again.
local kinds, slots_of, as, bs, cs, costs, nets_of, retries, ttls = {}, {}, {}, {}, {}, {}, {}, {}, {}

-- Reads and judges, and changes no slot but for its notes; answers whether all pass.
local function judge(check, charges, closed_ms)
  local passes, is_past = true, false
  for i = 1, charges do
    local kind, key, cost = ARGV[arg_at], KEYS[key_at], tonumber(ARGV[arg_at + 4])
    local a, b, c = tonumber(ARGV[arg_at + 1]), ARGV[arg_at + 2], ARGV[arg_at + 3]
    arg_at, key_at = arg_at + 5, key_at + 1
    if kind == 'l' and is_past then kind = 'b' end
    local slot, retry = nil, 0
    if kind ~= 'l' then
      slot = slot_of(key, kind == 'q')
      if slot.check ~= check then slot.check, slot.claimed = check, 0 end
    end
    if kind == 'b' then
      b, c = tonumber(b), tonumber(c)
      retry = judge_bucket(slot, a, b, c, cost, closed_ms)
    elseif kind == 'w' then
      b = tonumber(b)
      retry = judge_window(slot, a, b, c, cost, closed_ms)
    elseif kind == 'q' then
      c = tonumber(c)
      nets_of[i] = net_of(KEYS[key_at])
      key_at = key_at + 1
      retry, is_past = judge_quota(slot, nets_of[i], a, b, c, cost, closed_ms)
    end
    if slot then slot.claimed = slot.claimed + cost end
    if retry ~= 0 then passes = false end
    kinds[i], slots_of[i], as[i], bs[i], cs[i], costs[i], retries[i] = kind, slot, a, b, c, cost, retry
  end
  return passes
end

-- Marks what a denial leaves to do: nothing is created, a count never moves.
local function touch(slot, kind, a, b, c, ttl)
  if not slot.exists then return end
  local is_ahead = false
  if slot.amount > 0 and a > 0 then
    if kind == 'b' then is_ahead = slot.at > now and c > 0
    elseif kind == 'w' then is_ahead = slot.at > now - (c == 'e' and fmod(now, b) or 0) end
  end
  if is_ahead then
    if kind == 'b' then slot.at = now else slot.amount, slot.at = window_of(slot, b, c) end
    slot.dirty, slot.ttl = true, ttl
  elseif slot.dirty then
    slot.ttl = max(slot.ttl, ttl)
  else
    slot.lengthen = max(slot.lengthen or 0, ttl)
  end
end

local function report(charges, passes, closed_ms)
  local answer = { passes and 1 or 0 }
  if passes then
    for i = 1, charges do
      local slot = slots_of[i]
      if slot and costs[i] > 0 then slot.amount, slot.at = slot.next_amount, slot.next_at end
    end
  end
  for i = 1, charges do
    local kind, slot, a, b, c = kinds[i], slots_of[i], as[i], bs[i], cs[i]
    local remaining, reset, more, ttl
    if kind == 'b' then remaining, reset, more, ttl = report_bucket(slot, a, b, c, closed_ms)
    elseif kind == 'w' then remaining, reset, more, ttl = report_window(slot, a, b, c, closed_ms)
    elseif kind == 'q' then remaining, reset, more, ttl = report_quota(slot, nets_of[i], a, c, closed_ms)
    else remaining, reset, more, retries[i] = -1, -1, -1, -1 end
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = remaining, reset, retries[i], more
    ttls[i] = ttl
    if passes and costs[i] > 0 and kind ~= 'l' then slot.exists, slot.dirty, slot.ttl = true, true, ttl end
  end
  if not passes then
    for i = 1, charges do
      if costs[i] > 0 and kinds[i] ~= 'l' then touch(slots_of[i], kinds[i], as[i], bs[i], cs[i], ttls[i]) end
    end
  end
  return answer
end

local replies = { now }
for check = 1, tonumber(ARGV[3]) do
  local entry, charges = entries[tonumber(ARGV[arg_at])], tonumber(ARGV[arg_at + 1])
  arg_at = arg_at + 2
  entry.status = entry.status or status_of(entry)
  if entry.status == 1 then
    local closed_ms = min(entry.until_ms - now, CLOSED_HINT_MAX_MS)
    replies[check + 1] = report(charges, judge(check, charges, closed_ms), closed_ms)
  else
    skip_charges(charges)
    replies[check + 1] = entry.status == 2 and stale_answer(entry) or { entry.status }
  end
end

-- Only now is anything written. SET comes first: when memory is out it is refused at the first one, before any change.
local lengthen = {}
for _, slot in ipairs(order) do
  if slot.dirty then
    local text = slot.is_quota and format('%.0f', slot.amount) or format('%.0f:%.0f', slot.amount, slot.at)
    redis.call('SET', slot.key, text, 'PX', format('%.0f', slot.ttl))
  elseif slot.lengthen then
    lengthen[#lengthen + 1] = slot
  end
end
for _, slot in ipairs(lengthen) do
  if redis.call('PTTL', slot.key) < slot.lengthen then
    redis.call('PEXPIRE', slot.key, format('%.0f', max(slot.lengthen, GRACE_MS)))
  end
end
return replies
