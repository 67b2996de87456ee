/**
 * Decisions side by side: ours, rivals and the bare limits of Redis and its client, in one run against one local Redis.
 *
 *   npm run bench [-- --quick --only many64,hot64 --of quotaplane,PING]
 */
import { serveContender } from './child/contender-process';
import { COMPARISONS } from './parent/comparisons';
import { compare } from './parent/rounds';
import { FULL, QUICK, Stage } from './parent/stage';
import { cellsOf, HEADINGS, printTable } from './parent/table';

const [first, name = '', redisUrl = ''] = process.argv.slice(1);

if (first === 'contender') await serveContender(name, redisUrl);
else await bench(process.argv.slice(1));

async function bench(args: readonly string[]): Promise<void> {
  const only = listAfter('--only', args);
  const of = listAfter('--of', args);
  const stage = await Stage.open(import.meta.url, args.includes('--quick') ? QUICK : FULL);
  try {
    for (const [key, comparison] of Object.entries(COMPARISONS)) {
      if (only?.includes(key) === false) continue;
      const entries = comparison.entries.filter(({ contender }, at) => at === 0 || of?.includes(contender) !== false);
      printTable(comparison.title, HEADINGS, (await compare(stage, { ...comparison, entries })).map(cellsOf));
    }
  } finally {
    await stage.close();
  }
}

function listAfter(flag: string, args: readonly string[]): string[] | undefined {
  return args.includes(flag) ? (args[args.indexOf(flag) + 1] ?? '').split(',') : undefined;
}
