import { BoundedMap } from '@quotaplane/policy';
import type { ChargeState, QuotaCharge, QuotaState } from '@quotaplane/rate-limit';
import type { Applied } from '../decide/charges';

/** Most quotas remembered; the least used one is forgotten first, and then nothing is known of it. */
const QUOTAS_MAX = 20_000;

interface Heard {
  allowance: number;
  /** Of the whole quota, when the store last answered. */
  remaining: number;
  /** Units that this node has admitted without the store since. */
  spent: number;
}

/** What the store last said of each quota (tenant, meter, period, part), and what this node has admitted since: all a node alone can know of a month. */
export class QuotaMemory {
  private readonly byCounter: BoundedMap<Heard>;

  constructor(maxQuotas = QUOTAS_MAX) {
    this.byCounter = new BoundedMap(maxQuotas);
  }

  /** On the way of every call with a quota: allocates nothing for one that is known. */
  heard(applied: readonly Applied[], states: readonly (ChargeState | QuotaState)[]): void {
    for (let index = 0; index < applied.length; index += 1) {
      const one = applied[index];
      const state = states[index];
      if (one?.kind !== 'quota' || one.charge.allowance === null || state === undefined) continue;
      const known = this.byCounter.get(one.charge.counter);
      if (known === undefined) {
        this.byCounter.set(one.charge.counter, { allowance: one.charge.allowance, remaining: state.remaining, spent: 0 });
        continue;
      }
      known.allowance = one.charge.allowance;
      known.remaining = state.remaining;
      // What was admitted meanwhile is in the ledger's hands: its base brings it back as far as the tier settles it.
      known.spent = 0;
    }
  }

  isKnown({ counter }: QuotaCharge): boolean {
    return this.byCounter.peek(counter) !== undefined;
  }

  /** What the whole quota had left under this charge's allowance, which may be another one by now; undefined where nothing is known. */
  remainingOf({ counter, allowance }: QuotaCharge): number | undefined {
    const known = this.byCounter.get(counter);
    return known === undefined || allowance === null ? undefined : Math.max(0, known.remaining + allowance - known.allowance);
  }

  spentOf({ counter }: QuotaCharge): number {
    return this.byCounter.peek(counter)?.spent ?? 0;
  }

  /** @param units negative: given back */
  spend({ counter }: QuotaCharge, units: number): void {
    const known = this.byCounter.peek(counter);
    if (known) known.spent = Math.max(0, known.spent + units);
  }
}
