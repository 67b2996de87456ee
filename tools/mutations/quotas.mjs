/** Changes of what makes, carries and enforces the numbers of quotas. @type {import('./mutations.mjs').Mutation[]} */
const QUOTAS = { project: 'api', spec: 'src/quotas/quotas.spec.ts' };
const COMPILE = { project: 'policy', spec: 'src/compile-quota.spec.ts' };
const OVERAGE = { project: 'guard', spec: 'src/specs/overage.spec.ts' };
const LOCAL = { project: 'guard', spec: 'src/degraded/local-quota.spec.ts' };
/** What plain checks do no longer reaches judge-and-spend through a store. */
const SCRIPTS = { project: 'rate-limit', spec: 'src/lua/scripts-against-models.spec.ts' };
const STORES = { project: 'rate-limit', spec: 'src/quotas.spec.ts' };
const api = (path) => `apps/api/src/quotas/${path}.ts`;
const policy = (path) => `libs/policy/src/${path}.ts`;
const guard = (path) => `libs/guard/src/${path}.ts`;
const JUDGE = 'libs/rate-limit/src/lua/judge-and-spend.lua';
const MODEL = 'libs/rate-limit/src/models/quota.ts';

export const QUOTA_MUTATIONS = [
  { id: 'quotas-carry-what-was-used', what: 'carry the whole allowance, whatever was used of it', file: api('quota-outcome'), find: 'last.allowance - last.granted - last.used;', replace: 'last.allowance - last.granted;', ...QUOTAS, test: 'C088', breaks: 'C088' },
  { id: 'quotas-carry-past-the-cap', what: 'carry past the cap', file: api('quota-outcome'), find: 'unused < BigInt(cap) ? Number(unused) : cap', replace: 'Number(unused)', ...QUOTAS, test: 'C088', breaks: 'C088' },
  { id: 'quotas-grant-at-the-start-lost', what: 'leave a grant out of the period that it begins with', file: api('quota-extras'), find: 'if (!isDrawable(grant, stretch)) return [];', replace: 'if (!isDrawable(grant, stretch) || startMs === stretch.startMs) return [];', ...QUOTAS, test: 'C056', breaks: 'C056' },
  { id: 'quotas-grant-whole-again', what: 'give a grant whole in each period', file: api('quota-extras'), find: 'left -= draw.units;', replace: '', ...QUOTAS, test: 'takes what is left', breaks: 'P11' },
  { id: 'quotas-grant-before-its-draws', what: 'give what is left of a grant before its draws are known', file: api('quota-extras'), find: 'if (draw === undefined) return null;', replace: 'if (draw === undefined) continue;', ...QUOTAS, test: 'takes what is left', breaks: 'P11' },
  { id: 'quotas-ended-grant-taken-whole', what: 'take a grant away whole at its end', file: api('quota-extras'), find: '...(endMs < stretch.endMs ? extra(', replace: '...(endMs < 0 ? extra(', ...QUOTAS, test: 'keeps what was drawn', breaks: 'C050' },
  { id: 'quotas-wait-for-nobody', what: 'wait for no journal of before the end', file: api('quota-sweep'), find: 'if (nowMs - atMs < PATIENCE_MS) return false;', replace: '', ...QUOTAS, test: 'waits up to a minute', breaks: 'P13' },
  { id: 'quotas-corrected-in-silence', what: 'publish nobody whose figures the closing has corrected', file: api('finalise-quotas'), find: 'await makeDue(tx, changed, now);', replace: '', ...QUOTAS, test: 'makes draws and carried units final', breaks: 'P11' },
  { id: 'quotas-spent-as-they-came', what: 'spend grants in the order in which they came', file: api('allocation'), find: '.sort((a, b) => bySpending(a.grant, b.grant))', replace: '', project: 'api', spec: 'src/quotas/allocation.spec.ts', breaks: 'top-ups' },
  { id: 'quotas-spent-twice', what: 'draw the whole need of every grant', file: api('allocation'), find: 'left -= BigInt(units);', replace: '', project: 'api', spec: 'src/quotas/allocation.spec.ts', breaks: 'top-ups' },
  { id: 'contracts-twins-taken', what: 'take two limits of one name and two quotas of one meter', file: 'libs/contracts/src/limits.ts', find: 'if (seen.has(key)) ctx.issues', replace: 'if (false) ctx.issues', project: 'contracts', spec: 'src/limits.spec.ts', test: 'C040', breaks: 'C040' },
  { id: 'policy-extra-a-ms-late', what: 'begin an extra a ms after its instant', file: policy('compile-quota'), find: 'fromMs === null || fromMs <= atMs', replace: 'fromMs === null || fromMs < atMs', ...COMPILE, test: 'C056', breaks: 'C056' },
  { id: 'policy-ceiling-below-allowance', what: 'let an override raise the allowance past the ceiling', file: policy('compile-quota'), find: 'Math.max(allowance, exactSum(quota.ceiling, units))', replace: 'exactSum(quota.ceiling, units)', ...COMPILE, test: 'moves the ceiling', breaks: 'semantics: overage' },
  { id: 'policy-sum-past-exact', what: 'add extras past 2^53-1', file: policy('compile-quota'), find: 'Math.min(MAX_EXACT, left + right)', replace: 'left + right', ...COMPILE, test: 'ends a sum', breaks: 'P14' },
  { id: 'policy-restart-is-no-boundary', what: 'see no difference between two parts', file: policy('quota-moves'), find: 'left.part === right.part && ', replace: '', ...COMPILE, breaks: 'tier moves' },
  { id: 'policy-restart-at-the-start-counts', what: 'count a restart at the period\'s very start', file: policy('quota-moves'), find: 'change.atMs > period.startMs;', replace: 'change.atMs >= period.startMs;', ...COMPILE, breaks: 'tier moves' },
  { id: 'policy-spans-from-the-start', what: 'weigh each span from the period\'s start', file: policy('quota-moves'), find: '    fromMs = change.atMs;\n', replace: '', ...COMPILE, breaks: 'tier moves' },
  { id: 'guard-quota-of-30-days', what: 'end a month\'s quota 30 days after the call', file: guard('decide/charges'), find: 'periodEndMs: segment.period.endMs', replace: 'periodEndMs: Date.now() + 2_592_000_000', ...OVERAGE, test: 'fastify .*C055', breaks: 'C055' },
  { id: 'guard-ceiling-untold', what: 'tell the store of no ceiling', file: guard('decide/charges'), find: '...(ceiling === undefined ? {} : { ceiling }),', replace: '', ...OVERAGE, test: 'fastify .*ends bill at its ceiling', breaks: 'semantics: overage' },
  { id: 'guard-quota-of-all-nodes', what: 'give away alone what is left for all nodes', file: guard('degraded/local-quota'), find: 'shareOf(memory.remainingOf(charge) ?? 0) - memory', replace: '(memory.remainingOf(charge) ?? 0) - memory', ...LOCAL, test: 'gives away this node', breaks: 'semantics: degraded' },
  { id: 'guard-own-admissions-forgotten', what: 'forget what this node has admitted alone', file: guard('degraded/local-quota'), find: ' - memory.spentOf(charge));\n', replace: ');\n', ...LOCAL, test: 'gives away this node', breaks: 'semantics: degraded' },
  { id: 'guard-outage-never-over', what: 'hold what was admitted alone against the store\'s next word', file: guard('degraded/quota-memory'), find: 'known.spent = 0;', replace: '', ...LOCAL, test: 'starts from the store', breaks: 'semantics: degraded' },
  { id: 'guard-lowered-allowance-unseen', what: 'keep what was left of another allowance', file: guard('degraded/quota-memory'), find: 'known.remaining + allowance - known.allowance', replace: 'known.remaining', ...LOCAL, test: 'follows an allowance', breaks: 'C050' },
  { id: 'guard-lane-of-all-nodes', what: 'give away alone the slower lane of all nodes', file: guard('degraded/local-quota'), find: 'const capacity = shareOf(lane.capacity);\n  const limit = capacity === 0 ? 0 : shareOf(lane.limit);', replace: 'const { capacity, limit } = lane;', ...LOCAL, test: 'share of the slower lane', breaks: 'semantics: degraded' },
  { id: 'lua-quota-waits-a-day', what: 'tell a day as the wait for a month\'s quota', file: JUDGE, find: 'local period_left_ms = c > now and c - now or 1', replace: 'local period_left_ms = 86400000', ...SCRIPTS, test: 'histories of plain checks, one by one', breaks: 'C055' },
  { id: 'lua-quota-floor-left-out', what: 'let what is left of a lowered allowance go below 0', file: JUDGE, find: 'remaining, more = used < allowance and allowance - used or 0, reset', replace: 'remaining, more = allowance - used, reset', ...SCRIPTS, test: 'histories of plain checks, one by one', breaks: 'C050' },
  { id: 'lua-ceiling-unread', what: 'bill without an end', file: JUDGE, find: 'most = tonumber(most)', replace: 'most = false', ...SCRIPTS, test: 'histories of plain checks, one by one', breaks: 'semantics: overage' },
  { id: 'lua-ceiling-of-the-counter-alone', what: 'hold the counter alone against the ceiling', file: JUDGE, find: 'elseif most and cost > most - claimed - used', replace: 'elseif most and cost > most - claimed - amount', ...SCRIPTS, test: 'histories of plain checks, one by one', breaks: 'M3' },
  { id: 'model-ceiling-unread', what: 'bill without an end', file: MODEL, find: "return overage === 'reject' ? allowance : ceiling;", replace: "return overage === 'reject' ? allowance : (ceiling, undefined);", ...STORES, test: 'in process .*bills past', breaks: 'semantics: overage' },
];
