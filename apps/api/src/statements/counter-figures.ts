import { quotaKeys, type QuotaName } from '@quotaplane/rate-limit';
import type { Redis } from 'ioredis';
import type { PrismaService, Tx } from '../database/prisma.service';
import { meterKey, type PeriodKey } from './raw-sums';
import type { CounterFigure } from './reconciliation';

/** Counters of one part: of the last generation that counted in it, and of the tenant's present one, which may have taken over its figures. */
interface PartCounters extends Omit<QuotaName, 'generation'> {
  readonly generations: readonly number[];
}

/** Which counters the periods had, by what the ledger knows of them. */
export async function readCounterNames(db: PrismaService | Tx, wanted: readonly PeriodKey[]): Promise<PartCounters[]> {
  const slugs = [...new Set(wanted.map(({ tenant }) => tenant))];
  const ids = [...new Set(wanted.map(({ periodId }) => periodId))];
  const rows = await db.$queryRaw<(Omit<QuotaName, 'generation'> & { readonly last: number; readonly present: number })[]>`
    SELECT known.tenant, known.meter, known.period_id AS "periodId", known.part, max(known.generation) AS last, max(t.generation) AS present
    FROM (
      SELECT tenant, meter, period_id, part, generation FROM usage_journals WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, meter, period_id, part, generation FROM usage_counters WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
      UNION ALL
      SELECT tenant, meter, period_id, part, 1 FROM usage_external WHERE tenant = ANY(${slugs}::text[]) AND period_id = ANY(${ids}::text[])
    ) known JOIN tenants t ON t.slug = known.tenant
    GROUP BY known.tenant, known.meter, known.period_id, known.part`;
  return rows.map(({ last, present, ...name }) => ({ ...name, generations: present > last ? [present, last] : [last] }));
}

/**
 * Reads counter + plus - minus of the newest generation that Redis holds of each part, summed over the parts of a meter.
 * @returns by {@link meterKey}; null where Redis holds nothing of a part any more
 */
export async function readCounterFigures(redis: Redis, parts: readonly PartCounters[]): Promise<Map<string, CounterFigure | null>> {
  const pipeline = redis.pipeline();
  for (const { generations, ...name } of parts) {
    for (const generation of generations) {
      const keys = quotaKeys({ ...name, generation });
      pipeline.get(keys.counter);
      pipeline.hmget(keys.base, 'plus', 'minus');
    }
  }
  const replies = parts.length === 0 ? [] : ((await pipeline.exec()) ?? []);
  const lost = replies.find(([error]) => error && !error.message.startsWith('WRONGTYPE'))?.[0];
  if (lost) throw lost;
  const figures = new Map<string, CounterFigure | null>();
  let at = 0;
  for (const { tenant, meter, periodId, generations } of parts) {
    const own = generations.map(() => {
      const [counter, base] = [replies[at]?.[1], replies[at + 1]?.[1]];
      at += 2;
      return figureOf(counter, base);
    });
    const figure = own.find((one) => one !== null) ?? null;
    const key = meterKey(tenant, periodId, meter);
    const before = figures.get(key);
    const sum = before === null || figure === null ? null : { units: (before?.units ?? 0n) + figure.units, isWhole: (before?.isWhole ?? true) && figure.isWhole };
    figures.set(key, sum);
  }
  return figures;
}

const wholeNumber = (value: unknown): bigint => (typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : 0n);

/** Null where neither the counter nor its base is there. */
function figureOf(counter: unknown, base: unknown): CounterFigure | null {
  const [plus, minus] = Array.isArray(base) ? (base as unknown[]) : [];
  const held = [counter, plus, minus].filter((value) => typeof value === 'string');
  if (held.length === 0) return null;
  return { units: wholeNumber(counter) + wholeNumber(plus) - wholeNumber(minus), isWhole: typeof counter === 'string' };
}
