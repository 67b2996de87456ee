/** Changes of the script that judges plain checks, and of what reads it. @type {import('./mutations.mjs').Mutation[]} */
const of = (spec, test) => ({ project: 'rate-limit', spec, test });
const CASES = (test) => of('src/cases.spec.ts', `one Redis ${test}`);
const COUNTERS = (test) => of('src/redis/shared-counters.spec.ts', `one Redis .*${test}`);
const PREPARES = (test) => of('src/redis/plain-batch.spec.ts', test);
const TOGETHER = of('src/lua/scripts-against-models.spec.ts', 'plain checks, equal ones together');
const PLAIN = 'libs/rate-limit/src/lua/judge-plain.lua';
const BATCH = 'libs/rate-limit/src/redis/plain-batch.ts';
const PREPARED = 'libs/rate-limit/src/redis/prepared-check.ts';
const ANSWERS = 'libs/rate-limit/src/redis/plain-answers.ts';

export const PLAIN_MUTATIONS = [
  { id: 'plain-last-unit-refused', what: 'deny the last unit', file: PLAIN, find: 'if fits * want > room then\n          if room < want then', replace: 'if fits * want >= room then\n          if room <= want then', ...TOGETHER, breaks: 'C005' },
  { id: 'plain-bucket-drains-twice', what: 'drain a bucket at twice its rate', file: PLAIN, find: 'local drained = (now - time) * rule.a', replace: 'local drained = (now - time) * rule.a * 2', ...of('src/algorithm-cases.spec.ts', 'one Redis C010'), breaks: 'C010' },
  { id: 'plain-batch-reads-anew', what: 'read a counter anew for each group', file: PLAIN, find: 'if not amount then\n        local text = texts[slot]', replace: 'do\n        local text = texts[slot]', ...TOGETHER, breaks: 'C011, P01' },
  { id: 'plain-set-without-life', what: 'write a counter without a life', file: PLAIN, find: "call('PEXPIRE', KEYS[head_count + slot], life_text(life)) end", replace: 'life = nil end', ...COUNTERS('C020'), breaks: 'C020, P06' },
  { id: 'plain-lone-set-without-life', what: 'write a counter that is written alone without a life', file: PLAIN, find: ", 'PX', life_text(lives[last])", replace: '', ...TOGETHER, breaks: 'C020, P06' },
  { id: 'plain-life-without-grace', what: 'let a bucket live just until it is empty', file: PLAIN, find: 'debt, now, left + -left % 1 + 60000', replace: 'debt, now, left + -left % 1', ...TOGETHER, breaks: 'P06' },
  { id: 'plain-denial-lengthens-nothing', what: 'lengthen a life on spending only', file: PLAIN, find: "call('PTTL', KEYS[head_count + slot]) < life then", replace: 'false then', ...COUNTERS('lengthens'), breaks: 'P06' },
  { id: 'plain-zero-cost-is-one', what: 'charge a cost of 0 as 1', file: PLAIN, find: 'at = at + 5\n', replace: 'at = at + 5 if cost == 0 then cost = 1 end\n', ...CASES('C044'), breaks: 'C044' },
  { id: 'plain-closed-looks-pass', what: 'let a look pass where the limit is 0', file: PLAIN, find: 'if size == 0 or rule.a == 0 then', replace: 'if false then', ...TOGETHER, breaks: 'C043' },
  { id: 'plain-quota-passes-exact-range', what: 'let a quota count past 2^53-1', file: PLAIN, find: 'room = 9007199254740991 - (amount > count and amount or count)', replace: 'room = 2 * 9007199254740991', ...COUNTERS('C045'), breaks: 'C045, P14' },
  { id: 'plain-ceiling-unread', what: 'let a quota with a ceiling go on beyond it', file: PLAIN, find: "if #b > 1 then size = tonumber(match(b, ':(%d+)$')) end", replace: '', ...of('src/quotas.spec.ts', 'in one Redis .*ceiling'), breaks: 'semantics: overage' },
  { id: 'plain-owed-units-close', what: 'take the room of a quota that owes less than nothing for none', file: PLAIN, find: 'room = room or size - amount\n', replace: 'room = amount < 0 and 0 or room or size - amount\n', ...of('src/quotas.spec.ts', 'in one Redis .*against the ceiling'), breaks: 'M3' },
  { id: 'plain-limits-apart', what: 'forget what an earlier limit of the check denied', file: PLAIN, find: 'local kind, size, want, room = rule.kind, rule.size, rule.want, nil', replace: 'fits = checks local kind, size, want, room = rule.kind, rule.size, rule.want, nil', ...TOGETHER, breaks: 'C062, P02' },
  { id: 'plain-denied-are-charged', what: 'charge all checks of a group where some pass', file: PLAIN, find: 'debt = debt + fits * want', replace: 'debt = debt + checks * want', ...TOGETHER, breaks: 'C049, P02' },
  { id: 'plain-step-back-locks-out', what: 'keep a bucket\'s time that is ahead of the clock', file: PLAIN, find: 'if is_ahead then times[slot] = now end', replace: '', ...CASES('P05 .*bucket'), breaks: 'P05' },
  { id: 'plain-base-left-out', what: 'leave what the ledger says out of a quota', file: PLAIN, find: 'net = plus - minus', replace: 'net = 0', ...COUNTERS('counts what the ledger says'), breaks: 'P09' },
  { id: 'plain-segment-a-ms-long', what: 'judge at the very end of a segment', file: PLAIN, find: 'now < tonumber(ARGV[at + 2])', replace: 'now <= tonumber(ARGV[at + 2])', ...of('src/edges.spec.ts', 'one Redis judges nothing'), breaks: 'M2' },
  { id: 'plain-any-head-is-known', what: 'judge under whatever head the caller knows', file: PLAIN, find: 'elseif head ~= ARGV[8 + entry] then status = -2 end', replace: 'end', ...of('src/redis/redis-limit-store.spec.ts', 'one Redis .*gives each of many tenants'), breaks: 'M1, P10' },
  { id: 'plain-one-segment-for-all', what: 'take checks of different segments for equal', file: BATCH, find: ' || one.segment !== other.segment', replace: '', ...of('src/redis/redis-limit-store.spec.ts', 'one Redis .*by the segment of another'), breaks: 'M2' },
  { id: 'plain-first-numbers-kept', what: 'judge all rules of one cost by the first', file: PREPARED, find: "const parts = ruleParts(charge);\n    return this.seat(`r${parts.join(' ')}`", replace: "const parts = ruleParts(charge);\n    return this.seat(`r${charge.kind} ${charge.cost}`", ...CASES('C086'), breaks: 'C086' },
  { id: 'plain-memo-of-a-copy', what: 'take what was prepared for the check that this one is a copy of', file: PREPARED, find: ' && known.check === check', replace: '', ...PREPARES('that of the very object'), breaks: 'C086' },
  { id: 'plain-memo-of-any-epoch', what: 'take what was prepared in an earlier epoch or by another book', file: PREPARED, find: ' && known.epoch === this.current', replace: '', ...PREPARES('that of its book'), breaks: 'C086' },
  { id: 'plain-one-rule-for-all', what: 'take checks of one counter for equal whatever their rules', file: BATCH, find: ' || one.rules[at] !== other.rules[at]', replace: '', ...PREPARES('puts checks that ask the same'), breaks: 'C086' },
  { id: 'plain-group-of-any-size', what: 'put one check into a group as often as it comes', file: BATCH, find: ' || groupChecks[group] === SEVEN_BITS', replace: '', ...PREPARES('at most 128 .*one object'), breaks: 'P01, P04' },
  { id: 'plain-group-of-any-size-alike', what: 'put equal checks into a group however many it holds', file: BATCH, find: ' && groupChecks[group] !== SEVEN_BITS', replace: '', ...PREPARES('at most 128 .*objects of their own'), breaks: 'P01, P04' },
  { id: 'plain-batch-over-two-epochs', what: 'go on where a new epoch began in the middle of a batch', file: BATCH, find: 'if (epoch !== book.epoch) return this.fill(checks, nowArg);', replace: '', ...PREPARES('keeps equal checks together'), breaks: 'P01' },
  { id: 'plain-batch-filled-in-flight', what: 'fill a batch again while its call is under way', file: 'libs/rate-limit/src/redis/batch-lane.ts', find: 'const batch = this.spare.pop() ?? new PlainBatch(book);', replace: 'const batch = (this.spare[0] ??= new PlainBatch(book));', ...of('src/redis/redis-limit-store.spec.ts', 'one Redis .*two calls in flight by its own'), breaks: 'P04' },
  { id: 'plain-edits-forgotten', what: 'ask the script that brings no policy first, however often a tenant is edited', file: 'libs/rate-limit/src/redis/batch-lane.ts', find: ' && !edited.has(check.tenant)', replace: '', ...of('src/redis/redis-limit-store.spec.ts', 'one Redis .*pays one call more'), breaks: 'P01, P10' },
  { id: 'plain-later-units-shown', what: 'show a check what those after it spent', file: ANSWERS, find: 'const later = isAllowed ? passing - turn - 1 : 0;', replace: 'const later = 0;', ...TOGETHER, breaks: 'P04' },
];
