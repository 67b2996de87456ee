import { slugOf } from './data-set';
import type { RestClient } from './rest-client';

/** One thing that ops staff look at, as often as it is measured. */
export interface MeasuredRequest {
  readonly name: string;
  /** May look through all tenants: fewer than three letters are in no index. */
  readonly mayReadAll?: boolean;
  readonly pathOf: (index: number) => string;
}

interface Page {
  readonly nextCursor: string | null;
}

/** What the console's tenant page asks for when it is opened. */
const tenantPage = (slug: string): readonly string[] => [
  `/v1/tenants/${slug}`,
  `/v1/tenants/${slug}/policy`,
  `/v1/tenants/${slug}/keys?limit=200`,
  `/v1/tenants/${slug}/usage?step=60`,
  `/v1/tenants/${slug}/top-ups?limit=50`,
  `/v1/overrides?tenant=${slug}&subject=tenant&limit=50`,
  `/v1/overrides?tenant=${slug}&subject=single`,
  `/v1/usage?period=current&tenant=${slug}&limit=50`,
  `/v1/audit?tenant=${slug}&limit=8`,
  `/v1/statements?tenant=${slug}`,
];
/** Has a tenth part of all overrides. */
const CROWDED = slugOf(7);

const SORTS = ['slug', '-slug', 'name', '-name', 'createdAt', '-createdAt', 'monthUsed', '-monthUsed'];
const PARTS = ['baobab', 'cedar-01', 'oak-0', '0042', 'company 7f', '-099', 'ltd', 'zzz', 'a1b2c3', 'ginkgo-000006'];
const SHORT_PARTS = ['a', 'ks', '7f', 'qx'];

/** The same cursor for all, many pages down. */
async function deepCursor(rest: RestClient, path: string, pages: number): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page += 1) {
    const { body } = await rest.ask<Page>('GET', `${path}${path.includes('?') ? '&' : '?'}limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`);
    if (body.nextCursor === null) break;
    cursor = body.nextCursor;
  }
  return cursor;
}

export async function listRequests(rest: RestClient, tenants: number): Promise<MeasuredRequest[]> {
  const anyTenant = (index: number): string => slugOf((index * 104_729) % tenants);
  const same = (name: string, path: string): MeasuredRequest => ({ name, pathOf: () => path });
  const oneOf = (name: string, values: readonly string[], path: (value: string) => string): MeasuredRequest =>
    ({ name, pathOf: (index) => path(values[index % values.length] ?? '') });
  const deep = async (name: string, path: string, pages = 40): Promise<MeasuredRequest> => {
    const cursor = await deepCursor(rest, path, pages);
    return same(name, `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
  };
  const month = new Date().toISOString().slice(0, 7);
  return [
    ...SORTS.map((sort) => same(`tenants by ${sort}`, `/v1/tenants?sort=${sort}`)),
    same('tenants as the console reads them on, 100 a page', '/v1/tenants?sort=slug&limit=100'),
    await deep('tenants by slug, 8,000 down', '/v1/tenants?sort=slug'),
    await deep('tenants by -createdAt, 8,000 down', '/v1/tenants?sort=-createdAt'),
    await deep('tenants by -monthUsed, 8,000 down', '/v1/tenants?sort=-monthUsed'),
    oneOf('tenants of a tier', ['bench-free', 'bench-pro', 'bench-enterprise'], (tier) => `/v1/tenants?tier=${tier}`),
    same('tenants of a tier that few have', '/v1/tenants?tier=bench-rare'),
    same('tenants of a tier that few have, by -monthUsed', '/v1/tenants?tier=bench-rare&sort=-monthUsed'),
    oneOf('tenants by status', ['active', 'suspended'], (status) => `/v1/tenants?status=${status}`),
    same('tenants of a tier by -monthUsed', '/v1/tenants?tier=bench-enterprise&status=active&sort=-monthUsed'),
    oneOf('search by a part', PARTS, (part) => `/v1/tenants?q=${encodeURIComponent(part)}`),
    oneOf('search by a part, by -monthUsed', PARTS, (part) => `/v1/tenants?q=${encodeURIComponent(part)}&sort=-monthUsed`),
    { ...oneOf('search by one or two letters', SHORT_PARTS, (part) => `/v1/tenants?q=${part}`), mayReadAll: true },
    ...tenantPage('').map((_, at): MeasuredRequest => ({ name: `tenant page: ${tenantPage('{slug}')[at] ?? ''}`, pathOf: (index) => tenantPage(anyTenant(index))[at] ?? '' })),
    ...['/v1/overrides?tenant={slug}', '/v1/tenants/{slug}/policy', '/v1/tenants?q={slug}'].map((path) => same(`tenant with many overrides: ${path}`, path.replace('{slug}', CROWDED))),
    same('overrides', '/v1/overrides'),
    await deep('overrides, 8,000 down', '/v1/overrides'),
    ...['scheduled', 'active', 'ended', 'reverted'].map((state) => same(`overrides ${state}`, `/v1/overrides?state=${state}`)),
    oneOf('overrides of a subject', ['tenant', 'single', 'user:u-44'], (subject) => `/v1/overrides?subject=${subject}`),
    same('overrides of single subjects, active', '/v1/overrides?subject=single&state=active'),
    same('usage, running', '/v1/usage?period=current'),
    same('usage of a month', `/v1/usage?period=${month}`),
    await deep('usage, 8,000 down', '/v1/usage?period=current'),
    same('usage admitted without the store', '/v1/usage/degraded'),
    same('offenders', '/v1/offenders?minutes=15'),
    same('audit', '/v1/audit'),
    await deep('audit, 8,000 down', '/v1/audit'),
    oneOf('audit by entity', ['tenant', 'override', `tenant:${slugOf(5)}`, slugOf(9)], (entity) => `/v1/audit?entity=${entity}`),
    oneOf('audit by actor', ['operator-7@example.com', 'nobody'], (actor) => `/v1/audit?actor=${actor}`),
    oneOf('audit by action', ['override.create', 'tenant.move', 'key.create'], (action) => `/v1/audit?action=${action}`),
    same('statements', '/v1/statements'),
    same('statements of a month', `/v1/statements?period=${month}`),
  ];
}
