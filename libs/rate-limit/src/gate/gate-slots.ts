import { slotKey } from '../counter-key';
import { ANY_HEAD, type Check, type LimitStore, type SlotCharge } from '../store';

/** The right to run one task. */
export interface GateSlot {
  /** Aborted when the slot was lost while the task ran: the store did not hear this process for a whole lease. */
  readonly signal: AbortSignal;
  /** At most once has an effect. */
  release(): void;
}

export interface GateSlotsOptions {
  readonly store: LimitStore;
  readonly tenant: string;
  readonly name: string;
  readonly limit: number;
  readonly deadlineMs: number;
  /** This process's share of the limit while the store is away. */
  readonly shareOf: (limit: number) => number;
}

/** A slot, or after how long it makes sense to ask again. */
export type GateAnswer = { readonly slot: GateSlot } | { readonly retryAfterMs: number };

/** While the store is away its return is looked for this often. */
const AWAY_HINT_MS = 200;

/** The slots behind a gate: of the store while it answers, of this process's own share while it does not. */
export class GateSlots {
  private inUse = 0;
  private readonly counter: string;

  constructor(private readonly options: GateSlotsOptions) {
    this.counter = slotKey({ tenant: options.tenant, name: options.name, generation: 1 });
  }

  /** Tasks of this process that run, whoever gave them their slots. */
  get running(): number {
    return this.inUse;
  }

  async ask(): Promise<GateAnswer> {
    const { store, limit, deadlineMs, shareOf } = this.options;
    const lost = new AbortController();
    const onLost = (): void => lost.abort(new DOMException('The slot was lost: the store did not hear this process for a whole lease', 'AbortError'));
    const charge: SlotCharge = { kind: 'slot', counter: this.counter, limit, isRegenerated: false, cost: 1, onLost };
    const verdict = await store.judgeAndSpend(this.checkOf(charge), performance.now() + deadlineMs);
    if (verdict.status === 'allowed') return { slot: this.slotOf(lost.signal, () => store.release(this.counter, onLost)) };
    if (verdict.status === 'denied') return { retryAfterMs: verdict.states[0]?.retryAfterMs ?? AWAY_HINT_MS };
    return this.inUse < shareOf(limit) ? { slot: this.slotOf(lost.signal, () => undefined) } : { retryAfterMs: AWAY_HINT_MS };
  }

  private slotOf(signal: AbortSignal, giveBack: () => void): GateSlot {
    this.inUse += 1;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.inUse -= 1;
      giveBack();
    };
    return { signal, release };
  }

  /** No policy governs what a service caps by itself, so that no head is asked. */
  private checkOf(charge: SlotCharge): Check {
    return { tenant: this.options.tenant, knownHead: ANY_HEAD, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields: [], charges: [charge] };
  }
}
