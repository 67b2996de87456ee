/**
 * Decisions side by side: ours, rivals and the bare limits of Redis and its client, in one run against one local Redis.
 *
 *   npm run bench [-- --quick] [-- --only many64,hot64]
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
  const only = args[args.indexOf('--only') + 1]?.split(',');
  const stage = await Stage.open(import.meta.url, args.includes('--quick') ? QUICK : FULL);
  try {
    for (const [key, comparison] of Object.entries(COMPARISONS)) {
      if (args.includes('--only') && only?.includes(key) !== true) continue;
      printTable(comparison.title, HEADINGS, (await compare(stage, comparison)).map(cellsOf));
    }
  } finally {
    await stage.close();
  }
}
