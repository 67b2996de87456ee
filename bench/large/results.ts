import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type { ConsoleFigures } from './console-measures';
import { METERS, type DataSetSize } from './data-set';
import type { ExportFigures } from './export-measures';
import type { Latency } from './list-measures';
import type { Spread, TierPublishFigures } from './tier-publish';

export interface LargeFigures {
  readonly size: DataSetSize;
  readonly lists: readonly Latency[];
  readonly wholeReads: readonly string[];
  readonly exports: readonly ExportFigures[];
  readonly console: ConsoleFigures | undefined;
  readonly publish: TierPublishFigures | undefined;
  readonly propagation: { readonly enforced: Spread } | undefined;
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
const count = (value: number): string => value.toLocaleString('en-US');

/** The figures as a page of Markdown, targets beside them. */
export function writeResults(file: string, { size, lists, wholeReads, exports, console: page, publish, propagation }: LargeFigures): void {
  const worst = lists.reduce((most, { p99Ms }) => Math.max(most, p99Ms), 0);
  const lines = [
    '# The control plane at size', '',
    `Made by \`npm run bench:large\` on ${cpus().length} cores, load ${loadavg().map((load) => load.toFixed(1)).join(', ')} at the end: ${count(size.tenants)} tenants, ${count(size.overrides)} overrides,`,
    `${count(size.usageRows)} usage rows (${METERS} meters of each tenant and month), ${count(size.auditEntries)} audit entries. Postgres with its default settings, on the same machine.`, '',
    '| what | measured | least | goal |', '|---|---|---|---|',
    `| lists, search and tenant page, the worst p99 | ${ms(worst)} ms | <= 100 ms | <= 40 ms |`,
    `| big tables read whole by a list | ${wholeReads.length === 0 ? 'none' : wholeReads.join('; ')} | none | none |`,
    ...exports.map(({ format, rows, seconds, memory }) =>
      `| export of ${count(rows)} rows as ${format} | ${count(Math.round(rows / seconds))} rows/s, memory ${memory.join(' > ')} MiB | >= 50,000 rows/s, flat | >= 200,000 rows/s |`),
    ...(page ? [
      `| console, first load of the tenants' list | ${(page.firstLoadBytes / 1000).toFixed(0)} kB gzipped | <= 250 kB | <= 180 kB |`,
      `| console, interactive on this data set (median, worst of ${page.interactiveMs.length}) | ${ms(page.interactiveMs[Math.floor(page.interactiveMs.length / 2)] ?? 0)} ms, ${ms(page.interactiveMs.at(-1) ?? 0)} ms | <= 1,500 ms | <= 800 ms |`,
    ] : []),
    ...(publish ? [`| publish of a tier with ${count(publish.tenants)} tenants | ${publish.enforcedMs.map((took) => ms(took)).join(', ')} ms | <= 10 s | <= 3 s |`] : []),
    ...(propagation ? [`| edit to enforced on all nodes' caches, p99 | ${ms(propagation.enforced.p99)} ms | <= 300 ms | <= 100 ms |`] : []),
    '', `Each of ${lists[0]?.requests ?? 0} requests, 4 at once:`, '',
    '| request | p50 ms | p99 ms | worst ms |', '|---|---|---|---|',
    ...lists.map(({ name, p50Ms, p99Ms, worstMs }) => `| ${name.replaceAll('|', '\\|')} | ${ms(p50Ms)} | ${ms(p99Ms)} | ${ms(worstMs)} |`), '',
  ];
  writeFileSync(file, lines.join('\n'));
}
