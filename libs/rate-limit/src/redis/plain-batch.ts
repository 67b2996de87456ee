import { redisKeys } from '@quotaplane/contracts';
import { ANY_HEAD, type Charge, type Check } from '../store';
import { overageArg, penaltyOf, type ScriptArg, type ScriptInput } from './encoded-batch';

/** A charge that judge-plain.lua knows. */
export type PlainCharge = Extract<Charge, { kind: 'bucket' | 'window' | 'quota' }>;

/** Most charges of one plain check, so that 128 of them stay within what Lua hands to a command. */
const MAX_CHARGES = 30;
/** The script reads numbers of 7 bits. */
const SEVEN_BITS = 128;

const isPlainCharge = (charge: Charge): charge is PlainCharge =>
  charge.kind === 'bucket' || charge.kind === 'window' ? penaltyOf(charge) === undefined : charge.kind === 'quota' && charge.lane === undefined;

/** Whether judge-plain.lua can answer a check: what nearly every call is. A check that knows no head has to be told one, which the other script does. */
export const isPlain = ({ charges, knownHead }: Check): boolean => {
  const { length } = charges;
  if (length === 0 || length > MAX_CHARGES || knownHead === '') return false;
  for (let at = 0; at < length; at += 1) {
    const charge = charges[at];
    if (charge === undefined || !isPlainCharge(charge)) return false;
    for (let before = 0; before < at; before += 1) if (charges[before]?.counter === charge.counter) return false;
  }
  return true;
};

/** Equal checks of a batch: judged together, answered one after the other. */
export interface PlainGroup {
  readonly check: Check;
  readonly entry: number;
  readonly segment: number;
  /** Where its rules and places begin in those of the batch. */
  readonly from: number;
  /** Another group with the same first counter. */
  readonly next: PlainGroup | undefined;
  checks: number;
}

/** KEYS and ARGV of judge-plain.lua for checks that are all plain. */
export class PlainBatch implements ScriptInput {
  readonly keys: string[];
  readonly args: ScriptArg[];
  readonly groups: PlainGroup[] = [];
  /** Of each check: its group, and how many of that group came before it. */
  readonly groupOf: PlainGroup[] = [];
  readonly turnOf: number[] = [];

  private readonly heads: string[] = [];
  private readonly knownHeads: string[] = [];
  private readonly entryOf = new Map<string, number>();
  private readonly counters: string[] = [];
  private readonly quotas: string[] = [];
  private readonly bases: string[] = [];
  private readonly placeOf = new Map<string, number>();
  private readonly groupAt = new Map<string, PlainGroup>();
  private readonly segments: number[] = [];
  private readonly rules: PlainCharge[] = [];
  private readonly ruleAt: number[] = [];
  private readonly placeAt: number[] = [];

  /** @param nowArg '' for store time */
  constructor(checks: readonly Check[], nowArg: ScriptArg) {
    for (const check of checks) this.add(check);
    this.keys = this.heads.concat(this.counters, this.quotas, this.bases);
    this.args = [
      nowArg, this.heads.length, this.counters.length, this.quotas.length, this.groups.length, this.segments.length / 2, this.rules.length, this.packed(),
      ...this.knownHeads, ...this.segments,
    ];
    for (const rule of this.rules) pushRule(this.args, rule);
  }

  private add(check: Check): void {
    const charges = check.charges as readonly PlainCharge[];
    const entry = check.knownHead === ANY_HEAD ? 0 : this.entry(check);
    const segment = this.segment(check);
    const from = this.ruleAt.length;
    for (const charge of charges) {
      this.ruleAt.push(this.rule(charge));
      this.placeAt.push(charge.kind === 'quota' ? this.quotaPlace(charge.counter, charge.base) : this.counterPlace(charge.counter));
    }
    const first = charges[0]?.counter ?? '';
    const before = this.groupAt.get(first);
    let group = before;
    while (group !== undefined && !this.isSame(group, entry, segment, from, charges.length)) group = group.next;
    if (group === undefined) {
      group = { check, entry, segment, from, next: before, checks: 0 };
      this.groups.push(group);
      this.groupAt.set(first, group);
    } else {
      this.ruleAt.length = from;
      this.placeAt.length = from;
    }
    this.groupOf.push(group);
    this.turnOf.push(group.checks);
    group.checks += 1;
  }

  private isSame(group: PlainGroup, entry: number, segment: number, from: number, charges: number): boolean {
    if (group.entry !== entry || group.segment !== segment || group.check.charges.length !== charges || group.checks === SEVEN_BITS) return false;
    for (let at = 0; at < charges; at += 1) {
      if (this.ruleAt[group.from + at] !== this.ruleAt[from + at] || this.placeAt[group.from + at] !== this.placeAt[from + at]) return false;
    }
    return true;
  }

  /** 1-based: 0 asks no head. */
  private entry({ tenant, knownHead }: Check): number {
    const known = this.entryOf.get(tenant);
    if (known !== undefined && this.knownHeads[known - 1] === knownHead) return known;
    const entry = this.heads.push(redisKeys.head(tenant));
    this.knownHeads.push(knownHead);
    this.entryOf.set(tenant, entry);
    return entry;
  }

  private segment({ fromMs, untilMs }: Check): number {
    const { segments } = this;
    for (let at = 0; at < segments.length; at += 2) if (segments[at] === fromMs && segments[at + 1] === untilMs) return at / 2;
    return segments.push(fromMs, untilMs) / 2 - 1;
  }

  private rule(charge: PlainCharge): number {
    const { rules } = this;
    for (let at = 0; at < rules.length; at += 1) {
      const rule = rules[at];
      if (rule === charge || (rule !== undefined && isSameRule(rule, charge))) return at;
    }
    return rules.push(charge) - 1;
  }

  private counterPlace(counter: string): number {
    const known = this.placeOf.get(counter);
    if (known !== undefined) return known;
    const place = this.counters.push(counter) - 1;
    this.placeOf.set(counter, place);
    return place;
  }

  private quotaPlace(counter: string, base: string): number {
    const known = this.placeOf.get(counter);
    if (known !== undefined) return known;
    const place = this.quotas.push(counter) - 1;
    this.bases.push(base);
    this.placeOf.set(counter, place);
    return place;
  }

  private packed(): string {
    const bytes = Buffer.allocUnsafe(5 * this.groups.length + 4 * this.ruleAt.length);
    let at = 0;
    for (const { entry, segment, check, checks, from } of this.groups) {
      const charges = check.charges.length;
      bytes[at] = entry % SEVEN_BITS;
      bytes[at + 1] = entry >> 7;
      bytes[at + 2] = segment;
      bytes[at + 3] = checks - 1;
      bytes[at + 4] = charges;
      at += 5;
      for (let index = from; index < from + charges; index += 1, at += 4) {
        const [rule = 0, place = 0] = [this.ruleAt[index], this.placeAt[index]];
        bytes[at] = rule % SEVEN_BITS;
        bytes[at + 1] = rule >> 7;
        bytes[at + 2] = place % SEVEN_BITS;
        bytes[at + 3] = place >> 7;
      }
    }
    return bytes.toString('latin1', 0, at);
  }
}

const isSameRule = (one: PlainCharge, other: PlainCharge): boolean => {
  if (one.cost !== other.cost) return false;
  if (one.kind === 'bucket') return other.kind === 'bucket' && one.limit === other.limit && one.windowMs === other.windowMs && one.capacity === other.capacity;
  if (one.kind === 'window') return other.kind === 'window' && one.limit === other.limit && one.windowMs === other.windowMs && one.alignment === other.alignment;
  return other.kind === 'quota' && one.allowance === other.allowance && one.overage === other.overage && one.ceiling === other.ceiling && one.periodEndMs === other.periodEndMs;
};

const pushRule = (args: ScriptArg[], charge: PlainCharge): void => {
  if (charge.kind === 'bucket') args.push('b', charge.limit, charge.windowMs, charge.capacity, charge.cost);
  else if (charge.kind === 'window') args.push('w', charge.limit, charge.windowMs, charge.alignment === 'epoch' ? 'e' : 'f', charge.cost);
  else args.push('q', charge.allowance ?? -1, overageArg(charge), charge.periodEndMs, charge.cost);
};
