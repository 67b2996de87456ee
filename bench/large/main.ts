/**
 * The control plane at size: `npm run bench:large`, or a part of it: `node bench/run.mjs large [lists] [publish] [scale=0.01] [requests=300]`.
 * `scale` makes the data set smaller, for a try; a whole run writes bench/results-large.md.
 */
import { FULL_SIZE, type DataSetSize } from './data-set';
import { measureLists } from './large-lists';
import { startPublishPlace } from './publish-place';
import { writeResults } from './results';
import { measurePropagation, measureTierPublish } from './tier-publish';

const words = process.argv.slice(1);
const numberOf = (name: string, otherwise: number): number => Number(words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? otherwise);
const isWanted = (part: string): boolean => words.includes(part) || !['lists', 'publish'].some((other) => words.includes(other));
const tell = (line: string): void => console.log(line);

async function publish() {
  const place = await startPublishPlace(numberOf('tenants', 10_000));
  try {
    // The first one has no heads to be written over, and warms the processes up.
    tell(`first publish ${JSON.stringify(await measureTierPublish(place, { rounds: 1 }))}`);
    const tierPublish = await measureTierPublish(place);
    tell(`tier publish ${JSON.stringify(tierPublish)}`);
    const propagation = await measurePropagation(place);
    tell(`propagation ${JSON.stringify(propagation)}`);
    return { publish: tierPublish, propagation };
  } finally {
    await place.stop();
  }
}

const scale = numberOf('scale', 1);
const size: DataSetSize = {
  tenants: Math.round(FULL_SIZE.tenants * scale), overrides: Math.round(FULL_SIZE.overrides * scale),
  usageRows: Math.round(FULL_SIZE.usageRows * scale), auditEntries: Math.round(FULL_SIZE.auditEntries * scale),
};
const lists = isWanted('lists') ? await measureLists(size, numberOf('requests', 300), tell) : undefined;
const published = isWanted('publish') ? await publish() : undefined;
if (lists && published && scale === 1) writeResults('bench/results-large.md', { size, ...lists, ...published });
