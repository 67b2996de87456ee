/** Changes of the worker's jobs, schedules and claims. @type {import('./mutations.mjs').Mutation[]} */
const JOBS = { project: 'api', spec: 'src/outbox/jobs.spec.ts' };
const WATCH = { project: 'api', spec: 'src/outbox/store-watch.spec.ts' };
const SENDERS = { project: 'api', spec: 'src/webhooks/workers.spec.ts' };
const src = (path) => `apps/api/src/${path}.ts`;
const RELAY = src('outbox/change-relay');

export const JOB_MUTATIONS = [
  { id: 'jobs-fold-adds', what: 'add what a journal says each time that a job folds it', file: src('usage/fold-sql'), find: 'admitted = GREATEST(held.admitted, excluded.admitted), refunded', replace: 'admitted = held.admitted + excluded.admitted, refunded', ...JOBS, test: 'C069', breaks: 'C069, P23' },
  { id: 'jobs-connection-given-up', what: 'give up a connection that was away', file: src('outbox/queues.module'), find: 'Math.min(attempt * 50, 500)', replace: '(attempt > 5 ? null : 50)', ...JOBS, test: 'C070', breaks: 'C070' },
  { id: 'jobs-schedule-named-anew', what: 'name a schedule anew with each upsert', file: src('outbox/sweep-schedule'), find: 'this.queue.upsertJobScheduler(name, {', replace: 'this.queue.upsertJobScheduler(`${name}-${Math.random()}`, {', ...JOBS, test: 'C071', breaks: 'C071, P23' },
  { id: 'jobs-schedule-for-each-worker', what: 'let each worker keep schedules of its own', file: src('outbox/sweep-schedule'), find: 'this.queue.upsertJobScheduler(name, {', replace: 'this.queue.upsertJobScheduler(`${name}-${Math.random()}`, {', ...WATCH, test: 'C071', breaks: 'C071, P23' },
  { id: 'jobs-whole-where-some-stand', what: 'take the queue for whole where some schedules stand', file: src('outbox/sweep-schedule'), find: 'const lacking = (Object.keys(SWEEPS) as Sweep[])', replace: 'const lacking = (standing.length > 0 ? [] : Object.keys(SWEEPS) as Sweep[])', ...WATCH, test: 'C071', breaks: 'C070, C071' },
  { id: 'jobs-marked-before-published', what: 'mark a change before it is published', file: RELAY, find: 'const claimed = await claimChanges(tx, lane, CLAIM_LIMITS[lane]);', replace: 'const claimed = await claimChanges(tx, lane, CLAIM_LIMITS[lane]);\n      await tx.$executeRaw`UPDATE changes SET published_at = clock_timestamp() WHERE id = ANY(${claimed.map(({ id }) => id)}::text[]::uuid[])`;\n      await tx.$executeRawUnsafe(\'COMMIT\');\n      await tx.$executeRawUnsafe(\'BEGIN\');', project: 'api', spec: 'src/outbox/change-relay.spec.ts', test: 'is harmless to repeat', breaks: 'P23' },
  { id: 'jobs-neighbours-lost', what: 'lose a change whose tenant another change of the batch names', file: src('outbox/publications'), find: 'revisions.set(slug, published.revision);', replace: 'if (published.revision === 0) continue;\n        revisions.set(slug, published.revision);\n        this.tenantRevisions.set(slug, { ...published, revision: 0 });', ...JOBS, test: 'C072', breaks: 'C072, P23' },
  { id: 'webhooks-claimed-without-lease', what: 'claim deliveries that another one has claimed', file: src('webhooks/delivery-sql'), find: '        AND (leased_until IS NULL OR leased_until <= ${now})\n      ORDER BY', replace: '      ORDER BY', ...SENDERS, test: 'P23 send each', breaks: 'P23' },
  { id: 'webhooks-claimed-without-lock', what: 'claim deliveries without a lock', file: src('webhooks/delivery-sql'), find: 'ORDER BY next_attempt_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED', replace: 'ORDER BY next_attempt_at, id LIMIT ${most}', ...SENDERS, test: 'P23 pass over', breaks: 'P23' },
  { id: 'webhooks-marked-by-id', what: 'write down an attempt whoever has the claim by now', file: src('webhooks/delivery-sql'), find: " AND d.state = 'pending' AND d.leased_until = ${leasedUntil}\n", replace: " AND d.state = 'pending'\n", ...SENDERS, test: 'P23 count an attempt once', breaks: 'P23' },
];
