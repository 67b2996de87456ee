import type { Check, SlotCharge, Verdict } from '../store';

/** This process's slots of one counter, over all its generations. */
export interface Holding {
  /** Key of the newest generation. */
  counter: string;
  generation: number;
  isRegenerated: boolean;
  /** Held with an `onLost`, by it; the same function may stand for several. */
  readonly watched: Map<() => void, number>;
  /** Held without one. */
  plain: number;
  /** Lost without one: their holders could not be told and release them still. */
  plainLost: number;
  held: number;
  /** Asked for in calls under way. Counted as held elsewhere until their answers are here. */
  pending: number;
  /** Monotonic instant until which the store keeps our count. */
  leaseUntilMs: number;
  /** Of the last call sent that names this counter. */
  lastSequence: number;
  writes: number;
}

/** The slots of one judge-and-spend call: what this process holds beside them, as it was when the call was sent. */
export class SlotCall {
  private readonly own = new Map<string, number>();

  constructor(readonly sequence: number, readonly sentAtMs: number) {}

  note(counter: string, count: number): void {
    if (!this.own.has(counter)) this.own.set(counter, count);
  }

  ownOf(counter: string): number {
    return this.own.get(counter) ?? 0;
  }

  get counters(): Iterable<string> {
    return this.own.keys();
  }
}

/** What became of one check of a call; undefined where nobody knows. */
export interface SlotOutcome {
  readonly check: Check;
  readonly verdict: Verdict | undefined;
  /** Its caller has decided without us. */
  readonly isLate: boolean;
}

const GENERATION = /^(.*):(\d+)$/s;
const familyOf = (counter: string): { readonly family: string; readonly generation: number } => {
  const found = GENERATION.exec(counter);
  return found === null ? { family: counter, generation: 0 } : { family: found[1] ?? counter, generation: Number(found[2]) };
};

const slotsOf = (check: Check): SlotCharge[] => check.charges.filter((charge) => charge.kind === 'slot');

/**
 * What this process holds of every counter. The store is told whole counts only, each under a growing sequence, so that a reply or a
 * command that got lost, came late or overtook another leaks nothing.
 */
export class SlotBook {
  /** Of which the store may believe another count than `held + pending`. */
  readonly dirty = new Set<Holding>();
  private readonly byFamily = new Map<string, Holding>();
  private heldByAll = 0;
  private sequence = 0;

  constructor(private readonly leaseMs: number) {}

  get held(): number {
    return this.heldByAll;
  }

  get holdings(): Iterable<Holding> {
    return this.byFamily.values();
  }

  nextSequence(): number {
    this.sequence += 1;
    return this.sequence;
  }

  /** Before the check is sent. @returns whether held counts have moved to a new generation's key, which the store must hear first */
  meet(check: Check): boolean {
    let hasMoved = false;
    for (const charge of check.charges) {
      if (charge.kind !== 'slot') continue;
      const { family, generation } = familyOf(charge.counter);
      const holding = this.byFamily.get(family);
      if (holding === undefined || generation <= holding.generation) continue;
      Object.assign(holding, { counter: charge.counter, generation, isRegenerated: charge.isRegenerated });
      if (holding.held + holding.pending === 0) continue;
      this.dirty.add(holding);
      hasMoved = true;
    }
    return hasMoved;
  }

  /** @returns undefined when no check names a slot */
  begin(checks: readonly Check[], sentAtMs: number): SlotCall | undefined {
    let call: SlotCall | undefined;
    for (const check of checks) {
      for (const charge of check.charges) {
        if (charge.kind !== 'slot') continue;
        call ??= new SlotCall(this.nextSequence(), sentAtMs);
        const holding = this.holdingOf(charge);
        call.note(charge.counter, holding.held + holding.pending);
        // A look asks for nothing.
        if (Number(charge.cost) > 0) holding.pending += 1;
        holding.lastSequence = call.sequence;
      }
    }
    return call;
  }

  /** After the answers, or the loss of them. */
  settle(call: SlotCall, outcomes: readonly SlotOutcome[]): void {
    const passed = new Map<Holding, number>();
    for (const { check, verdict, isLate } of outcomes) {
      for (const charge of slotsOf(check)) {
        const holding = this.holdingOf(charge);
        if (Number(charge.cost) > 0) holding.pending -= 1;
        if (verdict?.status === 'allowed' && Number(charge.cost) > 0) {
          passed.set(holding, (passed.get(holding) ?? 0) + 1);
          holding.counter = charge.counter;
          if (!isLate) this.hold(holding, charge);
        } else if (verdict === undefined || holding.lastSequence !== call.sequence) {
          // Nobody knows what was written; or a call that counted this one as held is under way.
          this.dirty.add(holding);
        }
      }
    }
    for (const [holding, count] of passed) {
      holding.leaseUntilMs = Math.max(holding.leaseUntilMs, call.sentAtMs + this.leaseMs);
      if (call.ownOf(holding.counter) + count !== holding.held + holding.pending) this.dirty.add(holding);
    }
    for (const counter of call.counters) this.tidy(this.byFamily.get(familyOf(counter).family));
  }

  /** @returns whether there was one to give back */
  release(counter: string, onLost: (() => void) | undefined): boolean {
    const holding = this.byFamily.get(familyOf(counter).family);
    if (holding === undefined) return false;
    if (!this.drop(holding, onLost)) return false;
    this.count(holding, -1);
    this.dirty.add(holding);
    return true;
  }

  /** Its lease ran out: what was held is gone. @returns how many */
  lose(holding: Holding): number {
    const lost = holding.held;
    for (const [onLost, count] of holding.watched) for (let at = 0; at < count; at += 1) queueMicrotask(onLost);
    holding.watched.clear();
    holding.plainLost += holding.plain;
    holding.plain = 0;
    this.count(holding, -lost);
    this.dirty.add(holding);
    return lost;
  }

  /** Forgets a counter that nothing is known or awaited of. */
  tidy(holding: Holding | undefined): void {
    if (holding === undefined || this.dirty.has(holding) || holding.held + holding.pending + holding.writes + holding.plainLost > 0) return;
    this.byFamily.delete(familyOf(holding.counter).family);
  }

  private holdingOf(charge: SlotCharge): Holding {
    const { family, generation } = familyOf(charge.counter);
    const known = this.byFamily.get(family);
    if (known !== undefined) return known;
    const holding: Holding = {
      counter: charge.counter, generation, isRegenerated: charge.isRegenerated, watched: new Map(), plain: 0, plainLost: 0, held: 0, pending: 0,
      leaseUntilMs: -Infinity, lastSequence: 0, writes: 0,
    };
    this.byFamily.set(family, holding);
    return holding;
  }

  private count(holding: Holding, by: number): void {
    holding.held += by;
    this.heldByAll += by;
  }

  private hold(holding: Holding, { onLost }: SlotCharge): void {
    this.count(holding, 1);
    if (onLost === undefined) holding.plain += 1;
    else holding.watched.set(onLost, (holding.watched.get(onLost) ?? 0) + 1);
  }

  /** Takes one slot off the books; false where it was lost before. */
  private drop(holding: Holding, onLost: (() => void) | undefined): boolean {
    if (onLost !== undefined) {
      const count = holding.watched.get(onLost) ?? 0;
      if (count > 1) holding.watched.set(onLost, count - 1);
      else holding.watched.delete(onLost);
      return count > 0;
    }
    if (holding.plainLost > 0) {
      holding.plainLost -= 1;
      this.tidy(holding);
      return false;
    }
    if (holding.plain === 0) return this.dropOldest(holding);
    holding.plain -= 1;
    return true;
  }

  /** A caller that does not say which: the one that is held longest. */
  private dropOldest(holding: Holding): boolean {
    for (const onLost of holding.watched.keys()) return this.drop(holding, onLost);
    return false;
  }
}
