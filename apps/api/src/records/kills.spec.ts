import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { figure, startPostgres, startRedis, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FailpointName } from '../config/failpoints';
import { ADMIN_TOKEN } from '../http/spec-app';
import { OutboxRig } from '../outbox/outbox-rig';
import { eventually } from '../outbox/worker-rig';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const KILLS = figure(50, 500);
const STEPS: readonly FailpointName[] = ['records.after-ids', 'records.before-commit', 'records.after-commit'];
const SENDERS = 3;
const BATCH = 20;
const TENANTS = ['acme', 'hobby'];

let folder: string;
let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: OutboxRig;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await OutboxRig.over({ postgres, redisServer });
  const tier = await rig.tier('free');
  for (const slug of TENANTS) await rig.tenant(slug, tier);
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-records-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const call = { input: { main: join(ROOT, 'apps/api/src/main.ts') }, tsconfig: join(ROOT, 'apps/api/tsconfig.json'), outDir: folder, withFailpoints: true };
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); await bundle(${JSON.stringify(call)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Api {
  readonly url: string;
  /** The signal it died of. */
  readonly ended: Promise<string | null>;
}

async function launch(failpoint?: string): Promise<Api> {
  const child = spawn(process.execPath, [join(folder, 'main.mjs')], {
    env: {
      PATH: process.env['PATH'], DATABASE_URL: postgres.url, REDIS_URL: redisServer.url, PORT: '0', QUOTAPLANE_HOST: '127.0.0.1',
      QUOTAPLANE_BOOTSTRAP_TOKEN: ADMIN_TOKEN, ...(failpoint === undefined ? {} : { QUOTAPLANE_FAILPOINT: failpoint }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const ended = once(child, 'close').then(([, signal]) => {
    children.delete(child);
    return signal as string | null;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const url = await eventually(() => Promise.resolve(/The API listens on (\S+)/.exec(output)?.[1]), 60_000);
  return { url, ended };
}

type Batch = readonly { readonly id: string; readonly units: number; readonly tenant: string }[];

/** Clients that send batch after batch, each until it is answered by whatever process is up. */
class Clients {
  current: Api | undefined;
  readonly sent: Batch[] = [];
  readonly totals = { counted: 0, duplicates: 0, refused: 0, cutOff: 0 };
  isStopping = false;

  async run(sender: number): Promise<void> {
    for (let number = 0; !this.isStopping; number += 1) {
      const batch = Array.from({ length: BATCH }, (_, index) => ({ id: `${sender}-${number}-${index}`, units: 1 + ((number + index) % 7), tenant: TENANTS[(index + sender) % 2] ?? '' }));
      this.sent.push(batch);
      await this.sendUntilAnswered(batch);
    }
  }

  async sendUntilAnswered(batch: Batch): Promise<void> {
    const body = JSON.stringify(batch.map((record) => ({ source: 'spec', meter: 'requests', at: new Date().toISOString(), ...record })));
    for (;;) {
      const answer = await this.send(body);
      if (!answer) continue;
      this.totals.counted += answer.counted;
      this.totals.duplicates += answer.duplicates;
      this.totals.refused += answer.refused;
      return;
    }
  }

  private async send(body: string): Promise<{ counted: number; duplicates: number; refused: number } | undefined> {
    const api = await eventually(() => Promise.resolve(this.current), 60_000);
    try {
      const response = await fetch(`${api.url}/v1/usage/records`, { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_TOKEN}` } });
      return response.ok ? ((await response.json()) as { counted: number; duplicates: number; refused: number }) : undefined;
    } catch {
      this.totals.cutOff += 1;
      if (this.current === api) this.current = undefined;
      return undefined;
    }
  }
}

// Mutations: commit the ids before the sums; add to the sums outside the transaction; write sums for duplicates too.
it(`P13 counts usage once, through ${KILLS} kills of the API at each of its steps`, async () => {
  const startedAt = performance.now();
  const clients = new Clients();
  const senders = Array.from({ length: SENDERS }, (_, sender) => clients.run(sender));
  const armed = (kill: number): Promise<Api> => launch(`${STEPS[kill % STEPS.length]}:${1 + (Math.floor(kill / STEPS.length) % 4)}`);
  let next = armed(0);
  const signals: (string | null)[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const api = await next;
    clients.current = api;
    // Starts beside the one that is about to die, so that a kill costs its restart only once.
    next = kill + 1 < KILLS ? armed(kill + 1) : launch();
    signals.push(await api.ended);
  }
  const last = await next;
  clients.current = last;
  clients.isStopping = true;
  await Promise.all(senders);
  const { counted, duplicates, refused, cutOff } = { ...clients.totals };
  for (const batch of clients.sent) await clients.sendUntilAnswered(batch);

  const all = clients.sent.flat();
  const units = all.reduce((sum, record) => sum + record.units, 0);
  const [sums] = await rig.prisma.$queryRaw<{ external: string; raw: string; ids: bigint; rows: bigint }[]>`
    SELECT (SELECT sum(external)::text FROM usage_external) AS external, (SELECT sum(units)::text FROM usage_records) AS raw,
      (SELECT count(*) FROM usage_record_ids) AS ids, (SELECT count(*) FROM usage_records) AS rows`;
  console.info(`${KILLS} kills (${STEPS.join(', ')}): ${all.length} records of ${units} units sent, ledger ${sums?.external}, raw rows ${sums?.raw}; ` +
    `${cutOff} requests cut off, ${counted} counted and ${duplicates} duplicates answered; ${Math.round((performance.now() - startedAt) / 1000)} s`);
  expect(signals).toEqual(Array(KILLS).fill('SIGKILL'));
  expect(sums).toEqual({ external: String(units), raw: String(units), ids: BigInt(all.length), rows: BigInt(all.length) });
  expect(refused).toBe(0);
  expect(counted + duplicates).toBe(all.length);
  // Of a batch whose answer was cut off behind the commit its client learns as duplicates.
  expect(duplicates).toBeGreaterThan(0);
  expect(clients.totals.counted).toBe(counted);
}, figure(900_000, 7_200_000));
