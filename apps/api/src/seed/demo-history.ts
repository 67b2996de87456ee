import { createHash } from 'node:crypto';
import { periodsAround } from '@quotaplane/usage';
import { DEMO_TENANTS, type DemoTenant } from './demo-tenants';

const HISTORY_PERIODS = 3;
const TRAFFIC_DAYS = 2;
const TRAFFIC_STEP_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
const DEMO_INCARNATION = 'demo-history';

/** A number in [0, 1) that is always the same for the same words, so that every demo looks alike. */
const chance = (...words: (string | number)[]): number => createHash('sha256').update(words.join('|')).digest().readUInt32BE(0) / 2 ** 32;

/** What the demo tells of earlier periods; the running period stays empty. Rows are keyed, so writing them twice changes nothing. */
export const demoHistory = (nowMs: number) => {
  const periods = DEMO_TENANTS.flatMap((tenant) => endedPeriods(tenant, nowMs).map((period) => ({ tenant, period })));
  return {
    periods: periods.map(({ tenant, period }) => ({
      tenant: tenant.slug, periodId: period.id, startAt: new Date(period.startMs), endAt: new Date(period.endMs), timezone: tenant.timezone,
    })),
    journals: periods.flatMap(({ tenant, period }) => journalRows(tenant, period)),
    traffic: DEMO_TENANTS.flatMap((tenant) => trafficRows(tenant, endedPeriods(tenant, nowMs).at(-1)?.endMs ?? nowMs)),
  };
};

const endedPeriods = ({ timezone, anchorDay }: DemoTenant, nowMs: number) =>
  periodsAround({ timezone, anchorDay, nowMs, before: HISTORY_PERIODS, after: 0 }).slice(0, HISTORY_PERIODS);

const journalRows = (tenant: DemoTenant, period: { readonly id: string; readonly startMs: number; readonly endMs: number }) => {
  const days = (period.endMs - period.startMs) / DAY_MS;
  const units = Math.round(tenant.unitsPerDay * days * (0.85 + 0.3 * chance(tenant.slug, period.id)));
  const searched = Math.round((units * (0.1 + 0.2 * chance(tenant.slug, 'search'))) / 10) * 10;
  return [
    ['default', units - searched] as const,
    ['search', searched] as const,
  ].map(([endpointClass, admitted]) => ({
    incarnation: DEMO_INCARNATION, tenant: tenant.slug, meter: 'requests', periodId: period.id, part: 1, class: endpointClass, generation: 1,
    admitted: BigInt(admitted), refunded: BigInt(Math.round(admitted * 0.0004)), degraded: 0n,
  }));
};

const trafficRows = (tenant: DemoTenant, untilMs: number) =>
  Array.from({ length: (TRAFFIC_DAYS * DAY_MS) / TRAFFIC_STEP_MS }, (_, index) => {
    const minuteMs = Math.floor(untilMs / 60_000) * 60_000 - (index + 1) * TRAFFIC_STEP_MS;
    // Busy by day, quiet by night, in the shape of a cosine around 14:00 UTC.
    const hour = (minuteMs / 3_600_000) % 24;
    const swing = 1 + 0.7 * Math.cos(((hour - 14) / 24) * 2 * Math.PI);
    const units = Math.round((tenant.unitsPerDay / 1440) * swing * (0.8 + 0.4 * chance(tenant.slug, index)));
    const denied = chance(tenant.slug, index, 'denied') > 0.93 ? Math.ceil(units * 0.02) : 0;
    return {
      tenant: tenant.slug, minute: new Date(minuteMs), allowed: BigInt(Math.ceil(units * 0.8)), units: BigInt(units),
      denied: BigInt(denied), deniedByLimit: denied > 0 ? { 'per-minute': denied } : {},
    };
  });
