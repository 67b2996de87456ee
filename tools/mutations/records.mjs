/** Changes of what counts records and closes periods into statements. @type {import('./mutations.mjs').Mutation[]} */
const ONCE = { project: 'api', spec: 'src/records/once.spec.ts' };
const RECORDS = { project: 'api', spec: 'src/records/records.spec.ts' };
const CLOSING = { project: 'api', spec: 'src/statements/closing.spec.ts' };
const VERIFICATION = { project: 'api', spec: 'src/statements/statement-verification.spec.ts' };
const ADJUSTMENTS = { project: 'api', spec: 'src/statements/adjustments.spec.ts' };
const src = (path) => `apps/api/src/${path}.ts`;
const BATCH = src('records/record-batch');
const SQL = src('records/records-sql');

export const RECORD_MUTATIONS = [
  { id: 'records-id-without-tenant', what: 'leave the tenant out of an id', file: SQL, find: 'JSON.stringify([tenant, source, id])', replace: 'JSON.stringify([source, id])', ...ONCE, test: 'C037', breaks: 'C037, P13' },
  { id: 'records-id-parts-joined', what: 'join the parts of an id by a character that they may hold', file: SQL, find: 'JSON.stringify([tenant, source, id])', replace: "[tenant, source, id].join('|')", ...ONCE, test: 'cut elsewhere', breaks: 'P13' },
  { id: 'records-ids-committed-first', what: 'commit the ids before the sums', file: BATCH, find: "failpoint('records.after-ids');", replace: "await this.tx.$executeRawUnsafe('COMMIT');\n    await this.tx.$executeRawUnsafe('BEGIN');", ...ONCE, test: 'C057', breaks: 'C057, P13' },
  { id: 'records-ids-of-raw-rows', what: 'remember ids by the raw rows alone', file: BATCH, find: 'const fresh = rows.filter(({ index }) => claimed.has(index));', replace: 'const fresh = rows;', ...ONCE, test: 'C059', breaks: 'C059, P13' },
  { id: 'records-sums-of-all-sent', what: 'add the sums of all that was sent', file: BATCH, find: 'const counted = fresh.filter(({ index }) => written.has(index));', replace: 'const counted = rows;', ...ONCE, test: 'P13 counts once in 50', breaks: 'P13' },
  { id: 'records-sums-of-all-sent-overlapping', what: 'add the sums of all that is not refused', file: BATCH, find: 'const counted = fresh.filter(({ index }) => written.has(index));', replace: 'const counted = rows.filter(({ index }) => !beyond.has(index));', ...ONCE, test: 'P13 counts once in overlapping', breaks: 'P13' },
  { id: 'records-ids-unsorted', what: 'claim ids in the order in which they were sent', file: SQL, find: 'const sorted = inOrder(rows);\n  const claimed', replace: 'const sorted = rows;\n  const claimed', ...ONCE, test: 'take ids in one order', breaks: 'P13' },
  { id: 'records-memory-of-34-days', what: 'forget ids a day early', file: src('database/history-retention'), find: 'recordIds: RECORD_MEMORY_MS,', replace: 'recordIds: RECORD_MEMORY_MS - DAY_MS,', ...ONCE, test: 'P13 lasts 35 days', breaks: 'P13' },
  { id: 'records-past-exact', what: 'let a sum pass 2^53-1', file: src('records/record-sums'), find: 'if (sum > LARGEST || sum < -LARGEST) beyond.add(row.index);\n    else sums.set(keyOf(row), next);', replace: 'if (sum !== undefined) sums.set(keyOf(row), next);', ...RECORDS, test: 'P14', breaks: 'P14' },
  { id: 'records-late-is-external', what: 'take what comes after the end for what came before it', file: BATCH, find: "return receivedAt < endAt ? 'external' : 'late';", replace: "return 'external';", ...RECORDS, test: 'follows when it came', breaks: 'records' },
  { id: 'records-closing-not-waited-for', what: 'see whether a period is closed without waiting for its closing', file: SQL, find: ' FOR SHARE OF held`', replace: '`', ...RECORDS, test: 'a closing that runs beside', breaks: 'P13' },
  { id: 'api-key-of-whoever-asks', what: 'give an Idempotency-Key to whoever asks for it', file: src('database/idempotency-sql'), find: "WHERE held.created_at < clock_timestamp() - interval '7 days'", replace: "WHERE true OR held.created_at < clock_timestamp() - interval '7 days'", project: 'api', spec: 'src/http/idempotency.spec.ts', test: 'C060', breaks: 'C060' },
  { id: 'closing-sums-as-numbers', what: 'sum the parts of a line as numbers', file: src('usage/usage-item'), find: 'parts.reduce((total, part) => total + figure(part), 0n);', replace: 'BigInt(parts.reduce((total, part) => total + Number(figure(part)), 0));', ...CLOSING, test: 'P14', breaks: 'P14' },
  { id: 'closing-claims-without-lock', what: 'claim ended periods without a lock', file: src('statements/closing-sql'), find: ' FOR UPDATE OF p SKIP LOCKED', replace: '', ...CLOSING, test: 'closed once', breaks: 'P23' },
  { id: 'closing-chain-broken', what: 'let each statement follow none', file: src('statements/period-closing'), find: 'previousHash: hash,', replace: 'previousHash: NO_HASH,', ...CLOSING, test: 'closed once', breaks: 'statements' },
  { id: 'verification-without-raw-rows', what: 'verify statements without a look at the raw rows', file: src('statements/statement-verification'), find: 'if (raw === undefined) return;', replace: 'if (raw !== null) return;', ...VERIFICATION, test: 'finds a raw row', breaks: 'statements' },
  { id: 'verification-without-chain', what: 'verify statements without their order', file: src('statements/statement-verification'), find: "else if (previousHash !== before.hash) yield 'the statement does not follow the one before it';", replace: '', ...VERIFICATION, test: 'finds a hash', breaks: 'statements' },
  { id: 'adjustments-made-again', what: 'add what was added already', file: src('statements/due-adjustments'), find: "growth.counted + settled - madeOf('journal')", replace: 'growth.counted + settled', ...ADJUSTMENTS, test: 'once, numbered and chained', breaks: 'P13' },
];
