import { expect, it } from 'vitest';
import { MONTH_PATTERN, SLUG_PATTERN } from '../api/contract.facts';
import { auditSearch } from '../features/audit/routes/audit.search';
import { penalise } from '../features/lists/routes/lists.search';
import { signInSearch } from '../features/session/routes/sign-in.search';
import { tenantsSearch } from '../features/tenants/routes/tenants.search';
import { usageSearch } from '../features/usage/routes/usage.search';
import { checkedSearch, matching } from './checked-search';

it('keeps what fits, forgets what does not and drops what is not named', () => {
  expect(tenantsSearch.parse({ q: 'acme', status: 'gone', sort: '-monthUsed', colour: 'red' })).toEqual({ q: 'acme', status: undefined, sort: '-monthUsed' });
  expect(tenantsSearch.parse({ q: 7, tier: 'x'.repeat(64) })).toEqual({ q: undefined, tier: undefined });
});

// Mutation: read every name, also those that are not there; a click on one column then clears the other filters.
it('names only what was there, so that one filter can be laid over the others', () => {
  expect(Object.keys(tenantsSearch.parse({ sort: 'slug' }))).toEqual(['sort']);
});

it('takes slugs and months by the pattern of the contract', () => {
  const search = checkedSearch({ tenant: matching(SLUG_PATTERN), period: matching(MONTH_PATTERN) });
  expect(search.parse({ tenant: 'acme-2', period: '2026-12' })).toEqual({ tenant: 'acme-2', period: '2026-12' });
  expect(search.parse({ tenant: 'Acme', period: '2026-13' })).toEqual({ tenant: undefined, period: undefined });
});

it('takes this period by its name and a past one by its month', () => {
  expect(['current', '2026-01', '2026-1'].map((period) => usageSearch.parse({ period }).period)).toEqual(['current', '2026-01', undefined]);
});

it('takes a day of the calendar and no other', () => {
  expect(['2024-02-29', '2026-02-29', '2026-2-1'].map((from) => auditSearch.parse({ from }).from)).toEqual(['2024-02-29', undefined, undefined]);
});

it('takes whom to penalise whole or not at all', () => {
  const whole = { tenant: '', scope: 'ip', id: '192.0.2.1' };
  expect(penalise(whole)).toEqual(whole);
  expect([penalise({ ...whole, scope: 'global' }), penalise({ tenant: '' }), penalise('acme'), penalise(null)]).toEqual(Array(4).fill(undefined));
});

// Mutation: match any path that starts with a slash; //evil.example is then another site.
it('goes on after signing in only within this console', () => {
  const next = ['/tenants?q=a', '//evil.example', '/\\evil.example', 'https://evil.example'].map((path) => signInSearch.parse({ next: path }).next);
  expect(next).toEqual(['/tenants?q=a', undefined, undefined, undefined]);
});
