import { startControlPlane, type ControlPlane } from './control-plane';
import { measureConsole, type ConsoleFigures } from './console-measures';
import { BENCH_TIERS, fillDataSet, type DataSetSize } from './data-set';
import { measureExport, type ExportFigures } from './export-measures';
import { measureLatency, type Latency } from './list-measures';
import { wholeReads } from './list-plans';
import { listRequests } from './list-requests';
import type { RestClient } from './rest-client';

export interface ListFigures {
  readonly lists: readonly Latency[];
  readonly wholeReads: readonly string[];
  readonly exports: readonly ExportFigures[];
  readonly console: ConsoleFigures | undefined;
}

/** Fills the data set and asks for everything that ops staff and billing read of it. No worker runs: closing 100,000 months would be measured, too. */
export async function measureLists(size: DataSetSize, requests: number, tell: (line: string) => void): Promise<ListFigures> {
  const place = await startControlPlane({ withConsole: true });
  try {
    for (const tier of BENCH_TIERS) await createTier(place.rest, tier);
    await fillDataSet(place.databaseUrl, size, tell);
    return await measureAll(place, size, requests, tell);
  } finally {
    await place.stop();
  }
}

async function measureAll(place: ControlPlane, size: DataSetSize, requests: number, tell: (line: string) => void): Promise<ListFigures> {
  const asked = await listRequests(place.rest, size.tenants);
  const lists: Latency[] = [];
  for (const request of asked) {
    const latency = await measureLatency(place.rest, request, requests);
    tell(`${latency.p50Ms.toFixed(1).padStart(8)} ${latency.p99Ms.toFixed(1).padStart(8)} ms  ${latency.name}`);
    lists.push(latency);
  }
  const exports: ExportFigures[] = [];
  const lastMonth = new Date(new Date().setUTCDate(0)).toISOString().slice(0, 7);
  for (const [format, heads] of [['csv', 1], ['ndjson', 0], ['csv', 1]] as const) {
    const figures = await measureExport(place, lastMonth, format, heads);
    tell(`${format}: ${figures.rows} rows, ${Math.round(figures.rows / figures.seconds)} rows/s, memory ${figures.memory.join(' > ')} MiB`);
    exports.push(figures);
  }
  const page = await measureConsole(place).catch((error: unknown) => {
    tell(`The console was not measured: ${String(error)}`);
    return undefined;
  });
  if (page) tell(`console: ${page.firstLoadBytes} bytes, interactive after ${page.interactiveMs.map(Math.round).join(', ')} ms`);
  const whole = await wholeReads(place.databaseUrl, place.rest, asked.filter(({ mayReadAll }) => mayReadAll !== true));
  tell(`read whole: ${whole.join('; ') || 'none'}`);
  return { lists, exports, console: page, wholeReads: whole };
}

async function createTier(rest: RestClient, slug: string): Promise<void> {
  await rest.ask('POST', '/v1/tiers', { body: { slug, name: slug } });
  const { etag } = await rest.ask('GET', `/v1/tiers/${slug}/draft`);
  const limits = [
    { name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 600, windowMs: 60_000, mode: 'enforce' },
    { name: 'per-user', algorithm: 'gcra', scope: 'user', limit: 20, windowMs: 1_000, mode: 'enforce' },
  ];
  const quotas = [{ meter: 'requests', allowance: 1_000_000, overage: 'bill', alertAt: [80, 100] }, { meter: 'meter-1', allowance: 1_000_000, overage: 'reject', alertAt: [] }];
  await rest.ask('PUT', `/v1/tiers/${slug}/draft`, { ifMatch: etag, body: { limits, concurrency: 50, quotas } });
  await rest.ask('POST', `/v1/tiers/${slug}/publish`, { body: {} });
}
