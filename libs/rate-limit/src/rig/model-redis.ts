import { judgeCheck, lengthenedTo, type CounterBook, type CounterChange } from '../models/judge-check';
import { refundCharge } from '../models/refund-charge';
import type { AdmittedCharge, Check, Verdict } from '../store';
import { stateOf, textOf } from './state-text';

/** What the model expects a key to hold: `text` undefined is a value of another type. */
export interface ExpectedKey {
  readonly text: string | undefined;
  /** Infinity: no expiry. */
  readonly expiresAtMs: number;
}

/** The pure models over keys as Redis would hold them. Lives run on real time, as in Redis, while judgements take a chosen time. For specs. */
export class ModelRedis {
  readonly keys = new Map<string, ExpectedKey>();
  readonly bases = new Map<string, { plus: number; minus: number }>();
  private readonly book: CounterBook = {
    read: (kind, counter) => stateOf(kind, this.keys.get(counter)?.text),
    base: (base) => this.bases.get(base) ?? { plus: 0, minus: 0 },
  };

  constructor(private readonly realNow: () => number) {}

  judge(check: Check, nowMs: number): Verdict {
    const { status, states, changes } = judgeCheck(this.book, check, nowMs);
    for (const [key, change] of changes) this.apply(key, change);
    return { status, nowMs, states };
  }

  refund(charges: readonly AdmittedCharge[], nowMs: number): number[] {
    return charges.map((charge) => {
      const change = refundCharge(this.book, charge, nowMs);
      if (change?.kind === 'drop') this.keys.delete(charge.counter);
      else if (change !== undefined) this.apply(charge.counter, { ...change, of: charge.kind });
      return change === undefined ? 0 : 1;
    });
  }

  private apply(key: string, change: CounterChange): void {
    const realMs = this.realNow();
    if (change.kind === 'write') {
      this.keys.set(key, { text: textOf(change.of, change.state), expiresAtMs: realMs + change.ttlMs });
      return;
    }
    const found = this.keys.get(key);
    if (found === undefined) return;
    const isImmortal = found.expiresAtMs === Infinity;
    if (!isImmortal && found.expiresAtMs - realMs >= change.ttlMs) return;
    this.keys.set(key, { ...found, expiresAtMs: realMs + lengthenedTo(change.ttlMs) });
  }
}
