import { slug, tenantCreate, tierContentSchema } from '@quotaplane/contracts';
import { isTimeZone, periodAt } from '@quotaplane/usage';
import { expect, it } from 'vitest';
import { demoHistory } from './demo-history';
import { DEMO_KEYS, DEMO_TENANTS } from './demo-tenants';
import { DEMO_TIERS, ENDPOINT_CLASSES, PLATFORM_TIERS } from './platform-data';

const NOW = Date.UTC(2026, 10, 30, 12);

it('publishes only tiers that the contract accepts, each unchanged by parsing', () => {
  for (const { content } of [...PLATFORM_TIERS, ...DEMO_TIERS]) expect(tierContentSchema.parse(content)).toEqual(content);
});

it('names tenants, zones, classes and keys that the contract accepts', () => {
  for (const { unitsPerDay: _unitsPerDay, ...tenant } of DEMO_TENANTS) {
    tenantCreate.parse(tenant);
    expect([tenant.timezone, isTimeZone(tenant.timezone)]).toEqual([tenant.timezone, true]);
  }
  for (const { slug: name } of ENDPOINT_CLASSES) slug.parse(name);
  expect(new Set(DEMO_TENANTS.map(({ slug: name }) => name)).size).toBe(DEMO_TENANTS.length);
  expect(DEMO_KEYS.map(({ name }) => name)).toEqual(['demo-acme', 'demo-hobby', 'demo-globex']);
});

it('fills earlier periods only', () => {
  const history = demoHistory(NOW);
  for (const tenant of DEMO_TENANTS) {
    const current = periodAt({ ...tenant, nowMs: NOW });
    const rows = history.journals.filter((row) => row.tenant === tenant.slug);
    expect(rows.length).toBe(6);
    expect(rows.every(({ periodId }) => periodId < current.id)).toBe(true);
    expect(history.traffic.filter((row) => row.tenant === tenant.slug).every(({ minute }) => minute.getTime() < current.startMs)).toBe(true);
  }
});
