import { writeFileSync } from 'node:fs';
import type { Framework } from './apps/contenders';
import { AppUnderLoad } from './app-under-load';
import { startPlatform } from './platform';
import { tableOf, type Row } from './table';

interface Lap {
  readonly warmUpMs: number;
  readonly sliceMs: number;
  readonly rounds: number;
}

const FULL: Lap = { warmUpMs: 3_000, sliceMs: 1_000, rounds: 9 };
const QUICK: Lap = { warmUpMs: 2_500, sliceMs: 400, rounds: 4 };
const RESULTS = 'bench/results-http.md';

/** What is measured: who guards, and whether its callers are within their limits. Unguarded comes twice, to show what two figures of one app differ by. */
const LINES = [
  { name: 'unguarded', contender: 'unguarded' },
  { name: 'unguarded again (A/A)', contender: 'unguarded' },
  { name: 'a guard that does nothing', contender: 'idle' },
  { name: '**Quotaplane**: limit, quota, journal, headers, metrics', contender: 'ours' },
  { name: '@nestjs/throttler in memory', contender: 'throttler-memory' },
  { name: '@nestjs/throttler on Redis', contender: 'throttler-redis' },
  { name: 'rate-limiter-flexible on Redis', contender: 'flexible' },
  { name: { fastify: '@fastify/rate-limit on Redis', express: 'express-rate-limit on Redis' }, contender: 'native' },
  { name: 'denied: **Quotaplane**', contender: 'ours', isDenied: true },
  { name: 'denied: @nestjs/throttler on Redis', contender: 'throttler-redis', isDenied: true },
] as const;

type Line = (typeof LINES)[number];
const nameOf = ({ name }: Line, framework: Framework): string => (typeof name === 'string' ? name : name[framework]);
const isDenied = (line: Line): boolean => 'isDenied' in line;

/** Runs the whole comparison and prints it; a full run also writes it down. @throws where anybody admits more or fewer than its limit */
export async function benchHttp({ isQuick }: { readonly isQuick: boolean }): Promise<void> {
  const frameworks: readonly Framework[] = ['fastify', 'express'];
  const platform = await startPlatform(frameworks.map(tenantOf));
  try {
    const parts: string[] = [];
    for (const framework of frameworks) {
      const { rows, fallbacks } = await compare(framework, platform.redisUrl, isQuick ? QUICK : FULL);
      parts.push(`${tableOf(framework, rows)}\nDecided without the store, for it did not answer within 25 ms: ${(100 * fallbacks).toFixed(3)} % of our calls.\n`);
      console.log(parts.at(-1));
    }
    if (!isQuick) writeFileSync(RESULTS, `${HEADING}\n${parts.join('\n')}`);
  } finally {
    await platform.stop();
  }
}

interface Comparison {
  readonly rows: readonly Row[];
  /** Part of our guard's calls that was decided without the store. */
  readonly fallbacks: number;
}

const tenantOf = (framework: Framework): string => `acme-${framework}`;

async function compare(framework: Framework, redisUrl: string, { warmUpMs, sliceMs, rounds }: Lap): Promise<Comparison> {
  const apps = new Map<string, AppUnderLoad>();
  try {
    for (const { contender } of LINES) {
      if (!apps.has(contender)) apps.set(contender, await AppUnderLoad.start({ framework, contender, redisUrl, tenant: tenantOf(framework) }));
    }
    for (const app of apps.values()) await app.assertExact();
    const rows = LINES.map((line): Row & { line: Line } => ({ line, name: nameOf(line, framework), slices: [] }));
    for (const { line } of rows) await apps.get(line.contender)?.slice(isDenied(line), warmUpMs);
    for (let round = 0; round < rounds; round += 1) {
      // Each round begins with another line, so that nobody always follows the same neighbour.
      for (const { line, slices } of [...rows.slice(round % rows.length), ...rows.slice(0, round % rows.length)]) {
        const slice = await apps.get(line.contender)?.slice(isDenied(line), sliceMs);
        if (slice) slices.push(slice);
      }
    }
    const fallbacks = (await apps.get('ours')?.assertCounted()) ?? 0;
    return { rows, fallbacks };
  } finally {
    await Promise.all([...apps.values()].map((app) => app.stop()));
  }
}

const HEADING = `# HTTP: what a guard costs

\`npm run bench:http\`, Node ${process.version} on ${process.platform} ${process.arch}. The same NestJS app, one trivial route, 64 connections, 10,000 users of one
tenant; each app is a process of its own, all share one Redis, and the slices of a round are interleaved. Medians with quartiles; the ratio is to the
unguarded app in the same round. CPU is that of the app's process. Every guard had to admit exactly 100 of 150 calls at once before, and our quota had to
have counted every admitted call to the unit after.
`;
