import type { CompiledLimit } from '@quotaplane/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitOf, policyOf } from '../specs/policies';
import type { Call } from './call';
import { planOf } from './call-plan';

const CLASSES = ['default', 'login', 'search'];
const METHODS = ['GET', 'POST', 'DELETE'] as const;

const limits = fc.array(
  fc.record({
    endpointClass: fc.option(fc.constantFrom(...CLASSES), { nil: undefined }),
    methods: fc.option(fc.subarray([...METHODS], { minLength: 1 }), { nil: undefined }),
    mode: fc.constantFrom('enforce' as const, 'shadow' as const),
    limit: fc.constantFrom(null, 0, 1, 100),
  }),
  { maxLength: 8 },
).map((parts) => parts.map(({ endpointClass, methods, ...rest }, at): CompiledLimit => limitOf({
  name: `limit-${at}`, ...rest, ...(endpointClass === undefined ? {} : { endpointClass }), ...(methods === undefined ? {} : { methods }),
})));
const quotas = fc.subarray(['requests', 'exports']).map((meters) => meters.map((meter) => ({ meter, allowance: 10, overage: 'reject' as const })));
const calls = fc.array(fc.record({ slug: fc.constantFrom(...CLASSES), meter: fc.constantFrom('requests', 'exports'), method: fc.constantFrom(...METHODS) }), { minLength: 1, maxLength: 12 });

// Mutation: apply a limit of one class or method to all; keep one plan for calls of several classes; let a proposed limit deny; take 0 for no limit.
it('C067 applies to each call exactly the limits and quotas that name its class, method and meter, or none', () => {
  fc.assert(fc.property(limits, quotas, calls, (ofTier, ofMeters, asked) => {
    const [segment] = policyOf({ limits: ofTier, quotas: ofMeters }).segments;
    if (segment === undefined) throw new TypeError('no segment');
    for (const { slug, meter, method } of asked) {
      const call: Pick<Call, 'class' | 'method'> = { method, class: { slug, meter, failMode: 'local', refundOn: [] } };
      const applying = ofTier.filter(({ limit, endpointClass = slug, methods = [method] }) => limit !== null && endpointClass === slug && methods.includes(method));
      const named = (mode: CompiledLimit['mode']): string[] => applying.filter((limit) => limit.mode === mode).map(({ name }) => name);
      const plan = planOf(segment, call);
      expect(plan.rates.map(({ limit }) => limit.name)).toEqual(named('enforce'));
      expect(plan.shadows.map(({ limit }) => limit.name)).toEqual(named('shadow'));
      expect(plan.quotas.map(({ quota }) => quota.meter)).toEqual(ofMeters.map((quota) => quota.meter).filter((name) => name === meter));
    }
  }), { numRuns: 500 });
});
