import type { LimitRedis } from '../redis/connect-limit-redis';
import type { AdmittedCharge, Check, Verdict } from '../store';

/** Waits until a client can be used. For specs. */
export const connected = async <Client extends LimitRedis>(redis: Client): Promise<Client> => {
  if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  return redis;
};

/** A deadline far enough that only an outage misses it. */
export const inGoodTime = (): number => performance.now() + 5_000;

/** Bounds wide enough for every clock of the specs. */
export const checkOf = (charges: Check['charges'], change: Partial<Check> = {}): Check => ({
  tenant: 't', knownHead: '7.1', fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields: [], charges, ...change,
});

/** How many verdicts have a status. */
export const countOf = (verdicts: readonly Verdict[], status: Verdict['status']): number => verdicts.filter((verdict) => verdict.status === status).length;

/** The same admission with other units, as a caller gives back a part. A slot is whole. */
export const withUnits = (charge: AdmittedCharge, units: number): AdmittedCharge => (charge.kind === 'slot' ? charge : { ...charge, units });
