import type { Check } from '../store';
import type { ScriptArg } from './encoded-batch';
import type { CheckBook, PreparedCheck, Seat } from './prepared-check';
import type { ScriptText } from './script-call';
import { wireText } from './wire-text';

/** The script reads numbers of 7 bits. */
const SEVEN_BITS = 128;
/** Arguments before the known heads. */
const FIXED_ARGS = 8;
/** Arguments of a segment and of a rule. */
const [SEGMENT_ARGS, RULE_ARGS] = [2, 5];
/** Checks that a batch has room for at first. */
const ROOM = 128;

/** Numbers of batches, by which a seat knows whether its place is of the batch at hand: one row for all stores of this process. */
let batches = 0;

/**
 * What judge-plain.lua is called with for checks that are all plain. Equal ones are a group: judged together, answered one after the other.
 * Filled anew for each call and never thrown away: the engine would take what a call needs for long-lived, and put all of it among the old objects.
 */
export class PlainBatch implements ScriptText {
  keyCount = 0;
  argCount = 0;
  firstKey = '';
  text = '';
  /** Of each group: what it asks, how many checks ask it, and where its answer begins in the reply, once that is known. */
  readonly groups: PreparedCheck[] = [];
  groupChecks = new Int32Array(ROOM);
  groupStarts = new Int32Array(ROOM);
  /** Of each check: its group, and how many of that group came before it. */
  groupOf = new Int32Array(ROOM);
  turnOf = new Int32Array(ROOM);

  /** Another group with the same first counter; -1: there is none. */
  private groupNexts = new Int32Array(ROOM);
  /** Of nothing; see {@link touch}. */
  private touched = 0;
  private number = 0;
  private size = 0;
  private groupCount = 0;
  private charges = 0;
  private heads = 0;
  private counters = 0;
  private quotas = 0;
  private segments = 0;
  private rules = 0;
  private headsText = '';
  private knownHeadsText = '';
  private countersText = '';
  private quotasText = '';
  private basesText = '';
  private segmentsText = '';
  private rulesText = '';
  private bytes = Buffer.alloc(0);

  constructor(private readonly book: CheckBook) {}

  /** @param nowArg '' for store time */
  fill(checks: readonly Check[], nowArg: ScriptArg): this {
    this.clear(checks.length);
    const { book } = this;
    const { epoch } = book;
    this.touched = touch(checks);
    for (const check of checks) this.add(book.prepared(check));
    // Room for new seats was made in mid-way, so that equal keys may have two: once more, with all of them new.
    if (epoch !== book.epoch) return this.fill(checks, nowArg);
    const { heads, counters, quotas, segments, rules } = this;
    this.keyCount = heads + counters + 2 * quotas;
    this.argCount = FIXED_ARGS + heads + SEGMENT_ARGS * segments + RULE_ARGS * rules;
    this.firstKey = this.groups[0]?.firstKey ?? '';
    this.text = this.headsText + this.countersText + this.quotasText + this.basesText
      + wireText(nowArg, heads, counters, quotas, this.groupCount, segments, rules, this.packed())
      + this.knownHeadsText + this.segmentsText + this.rulesText;
    return this;
  }

  get groupsFilled(): number {
    return this.groupCount;
  }

  private clear(size: number): void {
    this.number = batches += 1;
    this.size = this.groupCount = this.charges = this.heads = this.counters = this.quotas = this.segments = this.rules = 0;
    this.headsText = this.knownHeadsText = this.countersText = this.quotasText = this.basesText = this.segmentsText = this.rulesText = '';
    if (size <= this.groupOf.length) return;
    this.groupChecks = new Int32Array(size);
    this.groupStarts = new Int32Array(size);
    this.groupNexts = new Int32Array(size);
    this.groupOf = new Int32Array(size);
    this.turnOf = new Int32Array(size);
  }

  private add(prepared: PreparedCheck): void {
    const { groupChecks, number, size } = this;
    let { group } = prepared;
    if (prepared.batch !== number || groupChecks[group] === SEVEN_BITS) {
      group = this.groupLike(prepared);
      prepared.batch = number;
      prepared.group = group;
    }
    const turn = groupChecks[group] ?? 0;
    this.groupOf[size] = group;
    this.turnOf[size] = turn;
    groupChecks[group] = turn + 1;
    this.size = size + 1;
  }

  /** The group of another object that asks the same, or a new one. */
  private groupLike(prepared: PreparedCheck): number {
    const { groups, groupChecks, groupNexts, number } = this;
    const first = prepared.counters[0];
    const before = first?.batch === number ? first.group : -1;
    for (let group = before; group >= 0; group = groupNexts[group] ?? -1) {
      const like = groups[group];
      if (like !== undefined && groupChecks[group] !== SEVEN_BITS && isSame(like, prepared)) return group;
    }
    const group = this.groupCount++;
    groups[group] = prepared;
    groupChecks[group] = 0;
    groupNexts[group] = before;
    this.seat(prepared);
    if (first !== undefined) first.group = group;
    return group;
  }

  private seat({ head, segment, counters, rules }: PreparedCheck): void {
    const { number } = this;
    if (head !== undefined && head.batch !== number) {
      this.headsText += head.text;
      this.knownHeadsText += head.beside;
      place(head, number, (this.heads += 1));
    }
    if (segment !== undefined && segment.batch !== number) {
      this.segmentsText += segment.text;
      place(segment, number, this.segments++);
    }
    this.charges += counters.length;
    for (const counter of counters) if (counter.batch !== number) this.seatCounter(counter);
    for (const rule of rules) {
      if (rule.batch === number) continue;
      this.rulesText += rule.text;
      place(rule, number, this.rules++);
    }
  }

  private seatCounter(counter: Seat): void {
    if (counter.beside === '') {
      this.countersText += counter.text;
      place(counter, this.number, this.counters++);
    } else {
      this.quotasText += counter.text;
      this.basesText += counter.beside;
      place(counter, this.number, this.quotas++);
    }
  }

  private packed(): string {
    const { groups, groupChecks, groupCount } = this;
    const length = 5 * groupCount + 4 * this.charges;
    if (this.bytes.length < length) this.bytes = Buffer.alloc(2 * length);
    const { bytes } = this;
    let at = 0;
    for (let group = 0; group < groupCount; group += 1) {
      const prepared = groups[group];
      if (prepared === undefined) continue;
      const { head, segment, counters, rules } = prepared;
      const entry = head === undefined ? 0 : head.place;
      bytes[at] = entry % SEVEN_BITS;
      bytes[at + 1] = entry >> 7;
      bytes[at + 2] = segment?.place ?? 0;
      bytes[at + 3] = (groupChecks[group] ?? 1) - 1;
      bytes[at + 4] = counters.length;
      at += 5;
      for (let index = 0; index < counters.length; index += 1, at += 4) {
        const [rule, counter] = [rules[index]?.place ?? 0, counters[index]?.place ?? 0];
        bytes[at] = rule % SEVEN_BITS;
        bytes[at + 1] = rule >> 7;
        bytes[at + 2] = counter % SEVEN_BITS;
        bytes[at + 3] = counter >> 7;
      }
    }
    return bytes.toString('latin1', 0, at);
  }
}

/**
 * Reads a little of all that the batch will need, and nothing between: of so many tenants most of it lies in no cache, and a processor fetches for several
 * checks at once only where each of them is a few steps long.
 * @returns a number that nobody needs, so that the reads are made
 */
const touch = (checks: readonly Check[]): number => {
  let sum = 0;
  for (let at = 0; at < checks.length; at += 1) {
    const memo = checks[at]?.memo as PreparedCheck | undefined;
    if (memo === undefined) continue;
    const { head, counters } = memo;
    if (head !== undefined) sum += head.place + endsOf(head.text) + endsOf(head.beside);
    const counter = counters[0];
    if (counter !== undefined) sum += counter.place + endsOf(counter.text);
  }
  return sum;
};

/** A text that is not longer than two lines of the cache has one end in each. */
const endsOf = (text: string): number => text.charCodeAt(0) + text.charCodeAt(text.length - 1);

const place = (seat: Seat, batch: number, at: number): void => {
  seat.batch = batch;
  seat.place = at;
  seat.group = -1;
};

/** By identity: equal things have one seat. */
const isSame = (one: PreparedCheck, other: PreparedCheck): boolean => {
  if (one.head !== other.head || one.segment !== other.segment || one.counters.length !== other.counters.length) return false;
  for (let at = 0; at < one.counters.length; at += 1) if (one.counters[at] !== other.counters[at] || one.rules[at] !== other.rules[at]) return false;
  return true;
};
