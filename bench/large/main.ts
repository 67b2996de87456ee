/** The control plane at size: `node bench/run.mjs large [publish]`. */
import { startPublishPlace } from './publish-place';
import { measurePropagation, measureTierPublish } from './tier-publish';

const TENANTS = Number(process.env['TENANTS'] ?? 10_000);

async function publish(): Promise<void> {
  const place = await startPublishPlace(TENANTS);
  try {
    // The first one has no heads to be written over, and warms the processes up.
    await measureTierPublish(place, { rounds: 1 }).then((figures) => console.log('first publish', JSON.stringify(figures)));
    console.log('tier publish', JSON.stringify(await measureTierPublish(place)));
    console.log('propagation', JSON.stringify(await measurePropagation(place)));
  } finally {
    await place.stop();
  }
}

const benches: Readonly<Record<string, () => Promise<void>>> = { publish };
for (const name of process.argv.slice(1).filter((word) => word in benches)) await benches[name]?.();
