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
  per check          index of its tenant entry (1-based), number of charges
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
        quota: period end + 48 h.
Guarantee  a denied, stale, outside or lost check changes no count. No key name is built here. One bad key never fails its neighbours.
]]
return redis.error_reply('not built')
