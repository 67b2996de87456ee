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

/** Equal checks of a batch: judged together, answered one after the other. */
export interface PlainGroup {
  readonly prepared: PreparedCheck;
  /** Place of another group with the same first counter; -1: there is none. */
  readonly next: number;
  checks: number;
  /** Where its answer begins in the reply, once that is known. */
  start: number;
}

/** Numbers of batches, by which a seat knows whether its place is of the batch at hand: one row for all stores of this process. */
let batches = 0;

/** What judge-plain.lua is called with for checks that are all plain. */
export class PlainBatch implements ScriptText {
  readonly keyCount: number;
  readonly argCount: number;
  readonly firstKey: string;
  readonly text: string;
  readonly groups: PlainGroup[] = [];
  /** Of each check: its group, and how many of that group came before it. */
  readonly groupOf: PlainGroup[] = [];
  readonly turnOf: number[] = [];

  private readonly number = (batches += 1);
  private charges = 0;
  private readonly counts = { heads: 0, counters: 0, quotas: 0, segments: 0, rules: 0 };
  private heads = '';
  private knownHeads = '';
  private counters = '';
  private quotas = '';
  private bases = '';
  private segments = '';
  private rules = '';

  /** @param nowArg '' for store time */
  constructor(book: CheckBook, checks: readonly Check[], nowArg: ScriptArg) {
    const prepared = book.all(checks);
    for (const one of prepared) this.add(one);
    const { heads, counters, quotas, segments, rules } = this.counts;
    this.keyCount = heads + counters + 2 * quotas;
    this.argCount = FIXED_ARGS + heads + SEGMENT_ARGS * segments + RULE_ARGS * rules;
    this.firstKey = prepared[0]?.firstKey ?? '';
    this.text = this.heads + this.counters + this.quotas + this.bases
      + wireText(nowArg, heads, counters, quotas, this.groups.length, segments, rules, this.packed())
      + this.knownHeads + this.segments + this.rules;
  }

  private add(prepared: PreparedCheck): void {
    let group = prepared.batch === this.number ? this.groups[prepared.group] : undefined;
    if (group === undefined || group.checks === SEVEN_BITS) {
      const place = this.groupLike(prepared);
      prepared.batch = this.number;
      prepared.group = place;
      group = this.groups[place];
      if (group === undefined) return;
    }
    this.groupOf.push(group);
    this.turnOf.push(group.checks);
    group.checks += 1;
  }

  /** Place of the group of another object that asks the same, or of a new one. */
  private groupLike(prepared: PreparedCheck): number {
    const { groups, number } = this;
    const first = prepared.counters[0];
    const before = first?.batch === number ? first.group : -1;
    for (let place = before; place >= 0; place = groups[place]?.next ?? -1) {
      const group = groups[place];
      if (group !== undefined && group.checks < SEVEN_BITS && isSame(group.prepared, prepared)) return place;
    }
    const place = groups.push({ prepared, next: before, checks: 0, start: 0 }) - 1;
    this.seat(prepared);
    if (first !== undefined) first.group = place;
    return place;
  }

  private seat({ head, segment, counters, rules }: PreparedCheck): void {
    const { counts, number } = this;
    if (head !== undefined && head.batch !== number) {
      this.heads += head.text;
      this.knownHeads += head.beside;
      this.place(head, (counts.heads += 1));
    }
    if (segment !== undefined && segment.batch !== number) {
      this.segments += segment.text;
      this.place(segment, counts.segments++);
    }
    this.charges += counters.length;
    for (const counter of counters) {
      if (counter.batch === number) continue;
      if (counter.beside === '') {
        this.counters += counter.text;
        this.place(counter, counts.counters++);
      } else {
        this.quotas += counter.text;
        this.bases += counter.beside;
        this.place(counter, counts.quotas++);
      }
    }
    for (const rule of rules) {
      if (rule.batch === number) continue;
      this.rules += rule.text;
      this.place(rule, counts.rules++);
    }
  }

  private place(seat: Seat, place: number): void {
    seat.batch = this.number;
    seat.place = place;
    seat.group = -1;
  }

  private packed(): string {
    const bytes = Buffer.allocUnsafe(5 * this.groups.length + 4 * this.charges);
    let at = 0;
    for (const { prepared: { head, segment, counters, rules }, checks } of this.groups) {
      const entry = head === undefined ? 0 : head.place;
      bytes[at] = entry % SEVEN_BITS;
      bytes[at + 1] = entry >> 7;
      bytes[at + 2] = segment?.place ?? 0;
      bytes[at + 3] = checks - 1;
      bytes[at + 4] = counters.length;
      at += 5;
      for (let index = 0; index < counters.length; index += 1, at += 4) {
        const [rule, place] = [rules[index]?.place ?? 0, counters[index]?.place ?? 0];
        bytes[at] = rule % SEVEN_BITS;
        bytes[at + 1] = rule >> 7;
        bytes[at + 2] = place % SEVEN_BITS;
        bytes[at + 3] = place >> 7;
      }
    }
    return bytes.toString('latin1', 0, at);
  }
}

/** By identity: equal things have one seat. */
const isSame = (one: PreparedCheck, other: PreparedCheck): boolean => {
  if (one.head !== other.head || one.segment !== other.segment || one.counters.length !== other.counters.length) return false;
  for (let at = 0; at < one.counters.length; at += 1) if (one.counters[at] !== other.counters[at] || one.rules[at] !== other.rules[at]) return false;
  return true;
};
