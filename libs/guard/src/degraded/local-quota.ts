import type { ChargeState, QuotaCharge, QuotaState, RateCharge } from '@quotaplane/rate-limit';
import type { ShareOf } from '../decide/charge-kinds';
import { NEVER } from '../decide/reports';
import type { QuotaMemory } from './quota-memory';

/** A quota as this node judges it alone: its share of what was left when the store last answered, minus what it has admitted since. */
export class LocalQuota {
  /** Of this node's share, before this call. */
  private readonly left: number;
  private readonly isWithin: boolean;
  /** Charged in place of the allowance, where that is used up and the quota throttles: this node's share of the slower lane. */
  readonly lane: RateCharge | undefined;

  constructor(private readonly charge: QuotaCharge, private readonly memory: QuotaMemory, shareOf: ShareOf) {
    this.left = Math.max(0, shareOf(memory.remainingOf(charge) ?? 0) - memory.spentOf(charge));
    this.isWithin = charge.cost <= this.left && (charge.cost > 0 || this.left > 0);
    this.lane = charge.lane !== undefined && !this.isWithin ? sharedLane(charge.lane, shareOf) : undefined;
  }

  /** Past it, `reject` denies and a lane has its say. Looking costs nothing and passes. */
  get passes(): boolean {
    return this.isWithin || this.lane !== undefined || this.charge.cost === 0;
  }

  /** The quota has enough left, as far as anybody knows, yet not this node: the outage's fault, not the caller's. */
  get isShareTooSmall(): boolean {
    const { charge, memory, lane } = this;
    if (lane !== undefined && charge.lane !== undefined) return charge.cost <= charge.lane.capacity && charge.cost > capacityOf(lane);
    return !this.passes && charge.cost <= (memory.remainingOf(charge) ?? 0) - memory.spentOf(charge);
  }

  take(): void {
    this.memory.spend(this.charge, this.charge.cost);
  }

  giveBack(): void {
    this.memory.spend(this.charge, -this.charge.cost);
  }

  /** @param lane what this node's store said of {@link lane} */
  stateAt(nowMs: number, isAllowed: boolean, lane: ChargeState | undefined): QuotaState {
    const { allowance, cost, periodEndMs } = this.charge;
    const resetAfterMs = Math.max(0, periodEndMs - nowMs);
    const remaining = this.isWithin && isAllowed ? this.left - cost : this.left;
    const retryAfterMs = this.passes ? 0 : cost > (allowance ?? 0) ? NEVER : Math.max(1, resetAfterMs);
    return { remaining, resetAfterMs, moreAfterMs: resetAfterMs, retryAfterMs, ...(lane ? { lane } : {}) };
  }
}

const capacityOf = (lane: RateCharge): number => (lane.kind === 'bucket' ? lane.capacity : lane.limit);

function sharedLane(lane: NonNullable<QuotaCharge['lane']>, shareOf: ShareOf): RateCharge {
  const capacity = shareOf(lane.capacity);
  const limit = capacity === 0 ? 0 : shareOf(lane.limit);
  return { ...lane, limit, capacity: limit === 0 ? 0 : capacity };
}
