import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkOf } from '../rig/connected';
import { bucketOf, quotaOf } from '../rig/rates';
import type { Charge } from '../store';
import { partsOf, tagOf } from './cluster-parts';

const tags = ['t', 'global', 'anonymous/ip/192.0.2.1', 'anonymous/ip/192.0.2.2', 'u'];
const charge = fc.constantFrom(...tags).chain((tag) => fc.integer({ min: 0, max: 3 }).map((cost): Charge => {
  if (tag === 't' && cost === 3) return { ...quotaOf(10), cost };
  return { ...bucketOf('', 10, 1_000), counter: `qp:{${tag}}:c:${cost}`, cost };
}));

// Mutation: put the keys of all parts into one call; judge a part twice or never; leave `global` to the last.
it('C034 C035 judges each charge in exactly one part of one slot, and global ones first', () => {
  fc.assert(fc.property(fc.array(charge, { maxLength: 8 }), fc.constantFrom('t', 'anonymous'), (charges, tenant) => {
    const parts = partsOf(checkOf(charges, { tenant, subjectFields: ['key:a'] }));
    expect(parts.flatMap(({ places }) => places).sort((one, other) => one - other)).toEqual(charges.map((_, place) => place));
    for (const { tag, check, places } of parts) {
      expect(check.charges).toEqual(places.map((place) => charges[place]));
      expect(check.charges.every(({ counter }) => tagOf(counter) === tag)).toBe(true);
      // The head and the subjects are of the tenant's own slot: asked of another one they would cross slots.
      expect(check.knownHead === '*').toBe(tag !== tenant);
      if (tag !== tenant) expect(check.subjectFields).toEqual([]);
    }
    const order = parts.map(({ tag }) => tag);
    if (order.includes('global')) expect(order[0]).toBe('global');
    if (order.includes(tenant)) expect(order.at(-1)).toBe(tenant);
    if (tenant === 't') expect(order.at(-1)).toBe('t');
  }));
});
