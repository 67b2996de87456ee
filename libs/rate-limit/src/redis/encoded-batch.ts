import { redisKeys } from '@quotaplane/contracts';
import { retryUnits } from '../models/retry';
import { ANY_HEAD, type AdmittedCharge, type Charge, type Check, type PenaltyRule, type QuotaCharge, type RetryCharge, type SlotCharge } from '../store';

export type ScriptArg = string | number;

/** A script call without its script: what goes into KEYS and ARGV. */
export interface ScriptInput {
  readonly keys: string[];
  readonly args: ScriptArg[];
}

/** One tenant's head, asked once for all checks of a batch that know the same head and segment. */
export interface TenantEntry {
  /** 1-based, as the script counts. */
  readonly index: number;
  readonly check: Check;
  /** Subject fields of all its checks. */
  readonly fields: string[];
  next: TenantEntry | undefined;
}

export interface EncodedBatch extends ScriptInput {
  /** Entry of each check. */
  readonly entries: readonly TenantEntry[];
}

const LETTERS = { counter: 's', log: 'g', queue: 'u', slot: 'c', retry: 'i' } as const;
const OVERAGE = { reject: 'r', throttle: 't', bill: 'b' } as const;
const ALIGNMENT = { epoch: 'e', 'first-hit': 'f' } as const;

/** What this process holds beside a batch, and how long the store shall count it: the third to fifth argument of a slot. */
export interface SlotArgs {
  readonly incarnation: string;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly sequence: number;
  readonly ownOf: (counter: string) => number;
}

/** A holder of nothing, for calls without a keeper of slots. */
const NO_HOLDER: SlotArgs = { incarnation: 'none', leaseMs: 1_000, graceMs: 0, sequence: 0, ownOf: () => 0 };

/** KEYS and ARGV of judge-and-spend.lua. @param nowArg '' for store time @param slots needed where a check names a slot */
export const encodeBatch = (checks: readonly Check[], nowArg: ScriptArg, slots: SlotArgs = NO_HOLDER): EncodedBatch => {
  const entries = entriesOf(checks);
  const keys: string[] = [];
  const args: ScriptArg[] = [nowArg, 0, checks.length, ''];
  let count = 0;
  for (const entry of entries) {
    // The first check of an entry brings it; its later ones only name it.
    if (entry.index <= count) continue;
    count = entry.index;
    const { tenant, knownHead, fromMs, untilMs } = entry.check;
    if (knownHead !== ANY_HEAD) keys.push(redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.subjects(tenant));
    args.push(knownHead, fromMs, untilMs, entry.fields.length);
    for (const field of entry.fields) args.push(field);
  }
  args[1] = count;
  const asked = new Set<string>();
  for (let at = 0; at < checks.length; at += 1) {
    const check = checks[at];
    const entry = entries[at];
    if (check === undefined || entry === undefined) continue;
    const countAt = args.push(entry.index, 0) - 1;
    let charges = 0;
    for (const charge of check.charges) {
      if (isRich(charge)) asked.add(LETTERS[charge.kind]);
      if (penaltyOf(charge) !== undefined) asked.add('p');
      charges += charge.kind === 'retry' ? pushRetry(keys, args, charge, retryUnits(check.charges)) : pushCharge(keys, args, charge, slots);
    }
    args[countAt] = charges;
  }
  if (asked.size > 0) args[3] = [...asked].join('');
  return { keys, args, entries };
};

const entriesOf = (checks: readonly Check[]): TenantEntry[] => {
  const byTenant = new Map<string, TenantEntry>();
  let count = 0;
  return checks.map((check) => {
    const first = byTenant.get(check.tenant);
    for (let entry = first; entry !== undefined; entry = entry.next) {
      if (isSameEntry(entry.check, check)) return withFields(entry, check.subjectFields);
    }
    count += 1;
    const entry: TenantEntry = { index: count, check, fields: [...check.subjectFields], next: first };
    byTenant.set(check.tenant, entry);
    return entry;
  });
};

const isSameEntry = (one: Check, other: Check): boolean =>
  one.knownHead === other.knownHead && one.fromMs === other.fromMs && one.untilMs === other.untilMs;

const withFields = (entry: TenantEntry, fields: readonly string[]): TenantEntry => {
  for (const field of fields) if (!entry.fields.includes(field)) entry.fields.push(field);
  return entry;
};

/** A kind of lua/parts, whose verbs the script makes only where they are asked for. */
export const isRich = (charge: Charge): charge is RichCharge | RetryCharge => charge.kind in LETTERS;

/** The penalty of a rate. Its line stands directly after its rate's. */
export const penaltyOf = (charge: Charge): PenaltyRule | undefined => ('penalty' in charge ? charge.penalty : undefined);

const pushRetry = (keys: string[], args: ScriptArg[], { counter, max, windowMs, repeatCost }: RetryCharge, units: number): number => {
  keys.push(counter);
  args.push(LETTERS.retry, max, windowMs, repeatCost, units);
  return 1;
};

/** @returns how many charges the script sees: a lane and a penalty count as one each */
const pushCharge = (keys: string[], args: ScriptArg[], charge: LimitingCharge, slots: SlotArgs): number => {
  const penalty = penaltyOf(charge);
  const lines = pushRule(keys, args, charge, slots);
  if (penalty === undefined) return lines;
  const { counter, strikes, withinMs, banMs, factor, maxBanMs, forgiveAfterMs } = penalty;
  keys.push(counter);
  args.push('p', strikes, `${withinMs}:${banMs}:${factor}:${maxBanMs}`, forgiveAfterMs, charge.cost);
  return lines + 1;
};

const pushRule = (keys: string[], args: ScriptArg[], charge: LimitingCharge, slots: SlotArgs): number => {
  keys.push(charge.counter);
  if (charge.kind === 'bucket') {
    args.push('b', charge.limit, charge.windowMs, charge.capacity, charge.cost);
    return 1;
  }
  if (charge.kind === 'window') {
    args.push('w', charge.limit, charge.windowMs, ALIGNMENT[charge.alignment], charge.cost);
    return 1;
  }
  if (charge.kind !== 'quota') {
    args.push(...richArgs(charge, slots));
    return 1;
  }
  keys.push(charge.base);
  args.push('q', charge.allowance ?? -1, overageArg(charge), charge.periodEndMs, charge.cost);
  if (charge.lane === undefined) return 1;
  keys.push(charge.lane.counter);
  args.push('l', charge.lane.limit, charge.lane.windowMs, charge.lane.capacity, charge.lane.cost);
  return 2;
};

export const overageArg = ({ overage, ceiling }: QuotaCharge): string =>
  ceiling === undefined || overage === 'reject' ? OVERAGE[overage] : `${OVERAGE[overage]}:${ceiling}`;

type LimitingCharge = Exclude<Charge, RetryCharge>;
type RichCharge = Exclude<LimitingCharge, { kind: 'bucket' | 'window' | 'quota' }>;

const richArgs = (charge: RichCharge, slots: SlotArgs): ScriptArg[] => {
  if (charge.kind === 'counter') return [LETTERS.counter, charge.limit, charge.windowMs, '', charge.cost];
  if (charge.kind === 'log') return [LETTERS.log, charge.limit, charge.windowMs, '', charge.cost];
  if (charge.kind === 'queue') return [LETTERS.queue, charge.limit, charge.windowMs, `${charge.capacity}:${charge.maxWaitMs}`, charge.cost];
  return slotArgs(charge, slots);
};

const slotArgs = (charge: SlotCharge, { incarnation, leaseMs, graceMs, sequence, ownOf }: SlotArgs): ScriptArg[] =>
  [LETTERS.slot, charge.limit, ownOf(charge.counter), `${incarnation}:${leaseMs}:${graceMs}:${sequence}:${charge.isRegenerated ? 1 : 0}`, charge.cost];

/** KEYS and ARGV of refund.lua. */
export const encodeRefund = (charges: readonly AdmittedCharge[], nowArg: ScriptArg): ScriptInput => {
  const args: ScriptArg[] = [nowArg];
  for (const charge of charges) {
    if (charge.kind === 'bucket') args.push('b', charge.limit, charge.windowMs, charge.units);
    else if (charge.kind === 'window') args.push('w', charge.windowMs, charge.startMs, charge.units);
    else if (charge.kind === 'counter') args.push('s', charge.windowMs, charge.startMs, charge.units);
    else if (charge.kind === 'log') args.push('g', charge.windowMs, charge.atMs, charge.units);
    else if (charge.kind === 'queue') args.push('u', charge.limit, `${charge.windowMs}:${charge.departsAtMs}`, charge.units);
    else if (charge.kind === 'quota') args.push('q', charge.periodEndMs, '', charge.units);
    else throw new TypeError(`charges of kind ${charge.kind} have no script`);
  }
  return { keys: charges.map((charge) => charge.counter), args };
};
