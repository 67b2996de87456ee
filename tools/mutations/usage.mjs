/** Changes of what counts usage, denials and retries. @type {import('./mutations.mjs').Mutation[]} */
const JOURNAL = { project: 'usage', spec: 'src/journal.spec.ts' };
const FAULTS = { project: 'usage', spec: 'src/journal-faults.spec.ts' };
const OFFENDERS = { project: 'usage', spec: 'src/offender-reader.spec.ts' };
const MINUTES = { project: 'usage', spec: 'src/minute-logs.spec.ts' };
const RETRIES = { project: 'usage', spec: 'src/retry-watch.spec.ts' };
const PERIODS = { project: 'usage', spec: 'src/periods.spec.ts' };
const SETTLEMENT = { project: 'usage', spec: 'src/settlement.spec.ts' };
const src = (path) => `libs/usage/src/${path}.ts`;
const ADD = 'libs/usage/src/lua/add-counts.lua';

export const USAGE_MUTATIONS = [
  { id: 'usage-journal-without-life', what: 'flush a journal without a life', file: src('journal'), find: '.pexpire(key, JOURNAL_TTL_MS)', replace: '', ...JOURNAL, test: 'C020', breaks: 'C020' },
  { id: 'usage-settled-at-the-flush', what: 'take a count for folded at the flush', file: src('journal-counts'), find: 'if (entry.flushedSeq > foldedSeq) continue;', replace: 'if (entry.flushedSeq === WAITING) continue;', ...JOURNAL, test: 'survives any mix', breaks: 'C058, M3' },
  { id: 'usage-lost-store-unseen', what: 'go on though the store has lost the hash', file: src('journal'), find: "this.counts.markAllWaiting();\n    if (this.isClosed)", replace: 'if (this.isClosed)', ...JOURNAL, breaks: 'M3' },
  { id: 'usage-failed-flush-forgotten', what: 'forget what a failed flush carried', file: src('journal'), find: 'this.counts.putBack(waiting, seq);', replace: '', ...FAULTS, breaks: 'M3, P13' },
  { id: 'usage-past-exact', what: 'count past 2^53-1', file: src('journal-counts'), find: 'Math.min(entry.value + units, MAX_EXACT)', replace: 'entry.value + units', ...JOURNAL, test: 'stays at', breaks: 'C045, P14' },
  { id: 'usage-refund-as-asked', what: 'refund as much as is asked for', file: src('journal'), find: 'Math.min(units, this.counts.valueOf(cell, \'admitted\') - this.counts.valueOf(cell, \'refunded\'))', replace: 'units', ...JOURNAL, test: 'refunds within', breaks: 'C061' },
  { id: 'usage-hour-of-the-outage-lost', what: 'tell no hour of what was admitted without the store', file: src('journal'), find: 'this.counts.add(cell, degradedHour(this.options.storeNow()), units);', replace: '', ...JOURNAL, test: 'in which hour', breaks: 'P30' },
  { id: 'usage-any-digits-count', what: 'take any digits for a count', file: src('journal-reader'), find: '/^\\d{1,16}$/.test(text) && Number(text) <= MAX_EXACT', replace: '/^\\d+$/.test(text)', ...JOURNAL, test: 'leaves out and reports', breaks: 'P14' },
  { id: 'usage-field-of-any-shape', what: 'take fields with members of any shape', file: src('journal-field'), find: 'if (![tenant, meter, className].every((slug) => SLUG.test(slug)) || !LOCAL_DATE.test(periodId)) return null;', replace: '', ...FAULTS, breaks: 'P13' },
  { id: 'usage-newcomer-has-no-error', what: 'take a newcomer\'s error for 0', file: src('space-saving'), find: 'const place = { key, count: error + 1, error,', replace: 'const place = { key, count: error + 1, error: 0,', project: 'usage', spec: 'src/space-saving.spec.ts', test: 'never counts too little', breaks: 'offenders' },
  { id: 'usage-newcomer-starts-at-1', what: 'start a newcomer at 1', file: src('space-saving'), find: 'count: error + 1, error', replace: 'count: 1, error', project: 'usage', spec: 'src/space-saving.spec.ts', test: 'never counts too little', breaks: 'offenders' },
  { id: 'usage-floors-left-out', what: 'leave the floors of other documents out of the error', file: src('offender-reader'), find: 'error: Math.max(over, floors - listed)', replace: 'error: over', ...OFFENDERS, breaks: 'offenders' },
  { id: 'usage-listed-errors-left-out', what: 'leave the listed errors out', file: src('offender-reader'), find: 'error: Math.max(over, floors - listed)', replace: 'error: floors - listed', ...OFFENDERS, breaks: 'offenders' },
  { id: 'usage-tie-is-honoured', what: 'call a tie of early and late retries honoured', file: src('offender-reader'), find: 'waited > early', replace: 'waited >= early', ...OFFENDERS, test: 'honours', breaks: 'offenders' },
  { id: 'usage-limits-without-bound', what: 'keep every limit of a subject apart', file: src('offender-minute'), find: 'known !== undefined || detail.limits.size < LIMITS_MAX', replace: 'known !== undefined || detail.limits.size >= 0', ...OFFENDERS, test: 'at most 16', breaks: 'P27' },
  { id: 'usage-one-minute-less', what: 'read one minute less', file: src('offender-reader'), find: '{ length: minutes + 1 }', replace: '{ length: minutes }', ...MINUTES, test: 'whole window', breaks: 'offenders' },
  { id: 'usage-early-is-waited', what: 'take a call before the told instant for one that waited', file: src('retry-watch'), find: "atMs < known.untilMs - TOLERANCE_MS ? 'early' : afterWaiting", replace: 'afterWaiting', ...RETRIES, breaks: 'P03' },
  { id: 'usage-judged-for-ever', what: 'judge each further call by the same denial', file: src('retry-watch'), find: 'this.forget(client, known.subject);', replace: '', ...RETRIES, breaks: 'P03' },
  { id: 'usage-forgotten-uncounted', what: 'let a client go without counting it', file: src('retry-watch'), find: 'this.forgotten += 1;', replace: '', ...RETRIES, test: 'bounded number', breaks: 'P30' },
  { id: 'usage-anchor-drifts', what: 'clip the anchor at 28 days', file: src('periods'), find: 'Math.min(anchorDay, month.daysInMonth)', replace: 'Math.min(anchorDay, 28)', ...PERIODS, test: 'C052', breaks: 'C052, P12' },
  { id: 'usage-offset-is-a-zone', what: 'take an offset for a time zone', file: src('periods'), find: "return !/^[+-]/.test(timezone);", replace: 'return true;', ...PERIODS, test: 'IANA', breaks: 'P12' },
  { id: 'usage-cap-settles-all', what: 'bill all of an outage under `cap`', file: src('settlement'), find: 'return degraded < left ? degraded : left;', replace: 'return degraded;', ...SETTLEMENT, breaks: 'M3' },
  { id: 'usage-waive-bills', what: 'bill an outage under `waive`', file: src('settlement'), find: "return settlement === 'bill' ? degraded : 0n;", replace: 'return degraded;', ...SETTLEMENT, breaks: 'M3' },
  { id: 'usage-traffic-lost-in-silence', what: 'lose what a failed flush of the charts carried in silence', file: src('add-counts'), find: 'onDropped(some.reduce((sum, [, count]) => sum + count, 0));', replace: '', ...MINUTES, test: 'bounded memory and tells', breaks: 'P30' },
  { id: 'usage-counts-of-one-call', what: 'write as many counts as one call takes and no more', file: src('add-counts'), find: 'from += COUNTS_PER_CALL', replace: 'from += counts.length', ...MINUTES, test: 'writes more tenants', breaks: 'P30' },
  { id: 'usage-counts-overlap', what: 'begin each call with the last count of the one before', file: src('add-counts'), find: 'from + COUNTS_PER_CALL)', replace: 'from + COUNTS_PER_CALL + 1)', ...MINUTES, test: 'writes more tenants', breaks: 'P30' },
  { id: 'usage-counts-end-at-a-failure', what: 'leave out in silence what follows a call that failed', file: src('add-counts'), find: 'failure ??= error;', replace: 'throw error;', ...MINUTES, test: 'tells every count of a flush', breaks: 'P30' },
  { id: 'usage-counts-sent-again', what: 'send the counts again after whatever error', file: src('add-counts'), find: "if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;", replace: '', ...MINUTES, test: 'sends nothing again', breaks: 'P30' },
  { id: 'usage-counts-twice-with-the-source', what: 'call the script once more after the call that brought its source', file: src('add-counts'), find: 'return redis.eval(source, 1, key, ttlMs, text);', replace: 'await redis.eval(source, 1, key, ttlMs, text);\n    return redis.evalsha(sha1, 1, key, ttlMs, text);', ...MINUTES, test: 'writes more tenants', breaks: 'C032, P30' },
  { id: 'usage-counts-without-script', what: 'let NOSCRIPT be an error of the flush', file: src('add-counts'), find: "!(error instanceof Error && error.message.startsWith('NOSCRIPT'))", replace: 'error !== SCRIPTS', ...MINUTES, test: 'writes more tenants', breaks: 'C032' },
  { id: 'usage-counts-without-life', what: 'write a minute without a life', file: ADD, find: "redis.call('PEXPIRE', key, ARGV[1])", replace: '', ...MINUTES, test: 'gives a minute a life', breaks: 'C020' },
  { id: 'usage-counts-rounded', what: 'tell what could not be added with 14 digits', file: ADD, find: "string.format('%.0f', dropped)", replace: 'tostring(dropped)', ...MINUTES, test: 'drops and tells only', breaks: 'P14' },
  { id: 'usage-counts-refused-untold', what: 'tell nobody of a count that could not be added', file: ADD, find: 'dropped = dropped + count', replace: 'dropped = dropped + 0', ...MINUTES, test: 'drops and tells only', breaks: 'P30' },
];
