-- A line of a rich kind: its counter is loaded once a batch and judged by the verbs of its kind; the columns are those of every other kind.
rich, slot_rich = {}, {}

local function exact(text)
  if not text or #text > 16 then return nil end
  local value = tonumber(text)
  if value > 9007199254740991 then return nil end
  return value
end

local function floor_divide(dividend, divisor)
  return (dividend - fmod(dividend, divisor)) / divisor
end

local function ceil_divide(dividend, divisor)
  local rest = fmod(dividend, divisor)
  if rest == 0 then return dividend / divisor end
  return (dividend - rest) / divisor + 1
end

local function ttl_of(wait_ms)
  return (wait_ms < 9007199254680991 and wait_ms or 9007199254680991) + 60000
end

function judge_rich(check, i, kind, key, a, b, c, cost, closed_ms, cap)
  local name, verbs = kind .. key, rich[kind]
  local slot = slots[name]
  if not slot then
    slot_count = slot_count + 1
    slot = slot_count
    local state = verbs.load(key, a, b, c)
    slots[name], slot_key[slot], slot_check[slot], slot_rich[slot] = slot, key, 0, verbs
    slot_exists[slot], slot_amount[slot], slot_at[slot] = state ~= nil, state or false, false
  end
  local claimed = slot_check[slot] == check and slot_claimed[slot] or 0
  slot_check[slot], slot_claimed[slot] = check, claimed + cost
  local retry, next_state, lower = verbs.judge(slot_amount[slot] or nil, a, b, c, cost, claimed, closed_ms, i)
  if retry == 0 and cost > 0 then slot_next[slot], slot_next_at[slot] = next_state, false end
  return slot, retry, lower or cap
end

function report_rich(i, kind, slot, a, b, c, closed_ms, passes, cost)
  local verbs, is_moved = rich[kind], false
  if not passes and cost > 0 then
    local state = verbs.deny(slot_amount[slot] or nil, a, b, c, i)
    if state then slot_amount[slot], slot_exists[slot], is_moved = state, true, true end
  end
  local remaining, reset, more, ttl, extra = verbs.report(slot_amount[slot] or nil, a, b, c, closed_ms, i, passes, cost)
  if is_moved then slot_ttl[slot] = ttl end
  return remaining, reset, more, ttl, extra or -1
end
