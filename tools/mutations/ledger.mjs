/** Changes of the ledger and of what guards hear of it: journals folded, bases, thresholds, the reconciliation, doubt. @type {import('./mutations.mjs').Mutation[]} */
const LEDGER = { project: 'api', spec: 'src/ledger/ledger.spec.ts' };
const NODES = { project: 'api', spec: 'src/ledger/node-journals.spec.ts' };
const DOUBT = { project: 'guard', spec: 'src/specs/doubtful.spec.ts' };
const src = (path) => `apps/api/src/${path}.ts`;
const BASES = src('ledger/quota-bases');
const COMPARE = src('ledger/compare-counters');
const RECONCILIATION = src('ledger/reconciliation');

export const LEDGER_MUTATIONS = [
  { id: 'ledger-fold-adds', what: 'add what a journal says to what the ledger has', file: src('usage/fold-sql'), find: 'admitted = GREATEST(held.admitted, excluded.admitted), refunded', replace: 'admitted = held.admitted + excluded.admitted, refunded', ...NODES, test: 'C058', breaks: 'C058, P13' },
  { id: 'ledger-base-has-own-counts', what: 'put into the base what the counter has itself', file: BASES, find: 'const plus = row.before.admitted + row.before.recovered', replace: 'const plus = row.admitted + row.before.recovered', ...NODES, test: 'C058', breaks: 'C058, M3' },
  { id: 'ledger-base-goes-back', what: 'let an older reading lower a base', file: 'libs/rate-limit/src/lua/write-base.lua', find: 'if tonumber(ARGV[index]) > held then', replace: 'if tonumber(ARGV[index]) ~= held then', ...LEDGER, test: 'never goes back', breaks: 'M3' },
  { id: 'ledger-earlier-generations-left-out', what: 'begin a new generation\'s counter at 0', file: BASES, find: 'row.before.admitted + row.before.recovered + row.external', replace: 'row.external', ...LEDGER, test: 'before the head of a new generation', breaks: 'M3' },
  { id: 'ledger-corrections-left-out', what: 'leave corrections out of the base', file: BASES, find: 'row.before.refunded + row.corrections', replace: 'row.before.refunded', ...LEDGER, test: 'has records, corrections', breaks: 'P13' },
  { id: 'ledger-loss-left-out', what: 'leave out of the base what a counter has lost', file: BASES, find: ' + row.gap', replace: '', ...LEDGER, test: 'adds to the base what a counter lost', breaks: 'M3' },
  { id: 'ledger-thresholds-highest-alone', what: 'record the highest threshold alone where a burst crosses several', file: src('ledger/threshold-watch'), find: 'reached: alerts.filter((percent) => used >= unitsAt(percent)),', replace: 'reached: alerts.filter((percent) => used >= unitsAt(percent)).slice(-1),', ...LEDGER, test: 'thresholds are recorded once', breaks: 'thresholds' },
  { id: 'ledger-threshold-each-time', what: 'record a threshold each time it is seen', file: src('ledger/threshold-watch'), find: 'dedupeKey: thresholdKey(tenant, meter, period.id, percent),', replace: 'dedupeKey: thresholdKey(tenant, meter, period.id, percent) + String(Math.random()),', ...LEDGER, test: 'thresholds are recorded once', breaks: 'P23' },
  { id: 'ledger-doubt-recovered', what: 'recover what the counter has for calls that were answered without it', file: COMPARE, find: ' - after.doubtful', replace: '', ...LEDGER, test: 'does not recover', breaks: 'M3' },
  { id: 'ledger-later-refunds-missed', what: 'take refunds that came later for units that the counter lost', file: COMPARE, find: 'before.admitted - after.refunded - counted', replace: 'before.admitted - before.refunded - counted', ...LEDGER, test: 'finds nothing amiss', breaks: 'M3' },
  { id: 'ledger-recovered-stays', what: 'leave what was recovered for a node that comes back', file: src('usage/fold-batches'), find: 'await takeBackRecovered(tx, batches);', replace: '', ...LEDGER, test: 'brings back what a killed node', breaks: 'P13' },
  { id: 'ledger-living-given-up', what: 'give up every life that no fold has heard of for a while', file: RECONCILIATION, find: 'new Date(nowMs - LOST_WITHIN_MS))).filter((id) => !living.has(id));', replace: 'new Date(nowMs - LOST_WITHIN_MS)));', ...LEDGER, test: 'gives up no node that lives', breaks: 'P13' },
  { id: 'ledger-unjournaled-unseen', what: 'look only at counters that somebody has journaled for', file: RECONCILIATION, find: 'await this.sample(await this.standingCounters(), nowMs, true);', replace: 'await this.sample([...this.noted.values()], nowMs, true);', ...LEDGER, test: 'died before its first flush', breaks: 'M3' },
  { id: 'guard-doubt-untold', what: 'tell nobody of units that the store may have counted', file: 'libs/guard/src/decide/question.ts', find: 'const onDoubt = admissions?.doubtOf(call, plan, generation);', replace: 'const onDoubt = undefined as (() => void) | undefined;', ...DOUBT, test: 'are journaled where', breaks: 'M3' },
];
