import { redisKeys } from '@quotaplane/contracts';
import { ANY_HEAD, type Charge, type Check, type CheckMemo } from '../store';
import { requireValidCharges } from '../valid-charges';
import { overageArg, penaltyOf } from './encoded-batch';
import { wireText } from './wire-text';

/** A charge that judge-plain.lua knows. */
export type PlainCharge = Extract<Charge, { kind: 'bucket' | 'window' | 'quota' }>;

/** What a batch sends once however many of its checks need it, as it stands on the wire, with its place in the batch at hand. */
export class Seat {
  /** Number of the last batch that it was in. */
  batch = 0;
  place = 0;
  /** Counters: place of the last group of that batch whose first counter it is; -1: there is none. Never the group itself, which would outlive its batch here. */
  group = -1;

  /** @param text one or more arguments @param beside heads: the known head; counters of quotas: the base */
  constructor(readonly text: string, readonly beside: string) {}
}

/** The life of a book's seats: one object for each, unlike that of any other book. */
class CheckEpoch {}

/** A check as a batch needs it, worked out once for each check object. */
export interface PreparedCheck extends CheckMemo {
  /** Of the book that made it. */
  readonly epoch: CheckEpoch;
  /** For judge-plain.lua, which answers nearly all; the rest below is empty where it is not. */
  readonly isPlain: boolean;
  /** Undefined: no head is asked. */
  readonly head: Seat | undefined;
  readonly segment: Seat | undefined;
  /** By charge. */
  readonly counters: readonly Seat[];
  readonly rules: readonly Seat[];
  /** A key of the check, by which a cluster finds the server. */
  readonly firstKey: string;
  /** Number of the last batch that this very object was in, and the place of its group there. */
  batch: number;
  group: number;
}

/** Most charges of one plain check, so that 128 of them stay within what Lua hands to a command. */
const MAX_CHARGES = 30;
/** Seats kept; past it all are made anew. Some 300 bytes each. */
const SEATS_MAX = 100_000;
const NO_SEATS: readonly Seat[] = [];

/**
 * Prepares checks. Equal keys, rules and segments have one seat in all prepared checks of one epoch, so that a batch tells them apart by identity;
 * when there are too many seats a new epoch begins, and what was prepared before is prepared anew.
 */
export class CheckBook {
  private readonly seats = new Map<string, Seat>();
  private current = new CheckEpoch();

  /** Of all seats that are handed out now. */
  get epoch(): CheckEpoch {
    return this.current;
  }

  /** @throws {InvalidChargeError} naming the field */
  prepared(check: Check): PreparedCheck {
    const known = check.memo;
    // A copy of a check brings the memo of its original. What has our epoch was made here.
    if (known !== undefined && known.check === check && known.epoch === this.current) return known as PreparedCheck;
    requireValidCharges(check.charges);
    const prepared = isPlain(check) ? this.plain(check) : { ...NOTHING, check, epoch: this.current };
    check.memo = prepared;
    return prepared;
  }

  private plain(check: Check): PreparedCheck {
    const { tenant, knownHead, fromMs, untilMs } = check;
    const charges = check.charges as readonly PlainCharge[];
    // Before any seat is taken, so that all of them are of one epoch.
    if (this.seats.size + 2 * charges.length + 2 > SEATS_MAX) this.beginEpoch();
    const headKey = redisKeys.head(tenant);
    return {
      check, epoch: this.current, isPlain: true, batch: 0, group: -1,
      head: knownHead === ANY_HEAD ? undefined : this.seat(`h${knownHead} ${headKey}`, () => new Seat(wireText(headKey), wireText(knownHead))),
      segment: this.seat(`s${fromMs} ${untilMs}`, () => new Seat(wireText(fromMs, untilMs), '')),
      counters: charges.map((charge) => this.counter(charge)),
      rules: charges.map((charge) => this.rule(charge)),
      firstKey: charges[0]?.counter ?? headKey,
    };
  }

  private counter(charge: PlainCharge): Seat {
    const { counter } = charge;
    if (charge.kind !== 'quota') return this.seat(`c${counter}`, () => new Seat(wireText(counter), ''));
    return this.seat(`q${counter} ${charge.base}`, () => new Seat(wireText(counter), wireText(charge.base)));
  }

  private rule(charge: PlainCharge): Seat {
    const parts = ruleParts(charge);
    return this.seat(`r${parts.join(' ')}`, () => new Seat(wireText(...parts), ''));
  }

  private seat(name: string, make: () => Seat): Seat {
    let seat = this.seats.get(name);
    if (seat === undefined) this.seats.set(name, (seat = make()));
    return seat;
  }

  private beginEpoch(): void {
    this.seats.clear();
    this.current = new CheckEpoch();
  }
}

const NOTHING = { isPlain: false, head: undefined, segment: undefined, counters: NO_SEATS, rules: NO_SEATS, firstKey: '', batch: 0, group: -1 } as const;

const isPlainCharge = (charge: Charge): charge is PlainCharge =>
  charge.kind === 'bucket' || charge.kind === 'window' ? penaltyOf(charge) === undefined : charge.kind === 'quota' && charge.lane === undefined;

/** Whether judge-plain.lua can answer a check: what nearly every call is. A check that knows no head has to be told one, which the other script does. */
export const isPlain = ({ charges, knownHead }: Check): boolean => {
  const { length } = charges;
  if (length === 0 || length > MAX_CHARGES || knownHead === '') return false;
  return charges.every((charge, at) => isPlainCharge(charge) && charges.findIndex(({ counter }) => counter === charge.counter) === at);
};

const ruleParts = (charge: PlainCharge): (string | number)[] => {
  if (charge.kind === 'bucket') return ['b', charge.limit, charge.windowMs, charge.capacity, charge.cost];
  if (charge.kind === 'window') return ['w', charge.limit, charge.windowMs, charge.alignment === 'epoch' ? 'e' : 'f', charge.cost];
  return ['q', charge.allowance ?? -1, overageArg(charge), charge.periodEndMs, charge.cost];
};
