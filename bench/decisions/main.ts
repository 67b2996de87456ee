/**
 * Decisions side by side: ours, rivals and the bare limits of Redis and its client, in one run against one local Redis.
 *
 *   npm run bench [-- --quick --only many64,hot64 --of quotaplane,PING]
 *
 * Only a whole run writes `bench/results.md` and `bench/results.json`. Ends with 1 where anybody admitted another number than it should.
 */
import { join } from 'node:path';
import { serveContender } from './child/contender-process';
import { PARTS, run, SLOW_PARTS } from './parent/run';
import { FULL, QUICK } from './parent/stage';
import { printTable } from './parent/table';
import { TARGET_HEADINGS, targetRows } from './report/markdown';
import { writeResults } from './report/write';

const [first, name = '', redisUrl = ''] = process.argv.slice(1);

if (first === 'contender') await serveContender(name, redisUrl);
else await bench(process.argv.slice(1)).catch(fail);

async function bench(args: readonly string[]): Promise<void> {
  const isQuick = args.includes('--quick');
  const only = listAfter('--only', args);
  const contenders = listAfter('--of', args);
  const parts = PARTS.filter((part) => (only === undefined ? !isQuick || !SLOW_PARTS.includes(part) : only.includes(part)));
  const results = await run({ program: import.meta.url, pace: isQuick ? QUICK : FULL, parts, contenders });
  printTable('Targets', TARGET_HEADINGS, targetRows(results));
  if (isQuick || only !== undefined || contenders !== undefined) return;
  await writeResults(join(process.cwd(), 'bench'), results);
  console.log('\nbench/results.md and bench/results.json are written');
}

function fail(error: unknown): void {
  console.error(`the bench is void: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
  process.exitCode = 1;
}

function listAfter(flag: string, args: readonly string[]): string[] | undefined {
  return args.includes(flag) ? (args[args.indexOf(flag) + 1] ?? '').split(',') : undefined;
}
