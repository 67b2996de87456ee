import type { Cluster } from 'ioredis';
import { admitted } from '../admitted';
import { atNoCost } from '../at-no-cost';
import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';
import { requireValidCharges, requireValidRefund } from '../valid-charges';
import { BatchLane, type LaneHost } from './batch-lane';
import { ClusterNodes } from './cluster-nodes';
import { partsOf, tagOf, type CheckPart } from './cluster-parts';
import { deniedWhole, wholeVerdict, type Taken } from './cluster-verdict';
import { DeadlineWatch, loopInstant, type LoopInstant } from './deadline-watch';
import { EditedTenants } from './edited-tenants';
import type { ScriptArg } from './encoded-batch';
import { tellDoubt } from './doubt';
import { unavailable } from './outage';
import { CheckBook } from './prepared-check';
import { PendingRefunds, refundTogether, UNAWAITED_MS } from './redis-refund';
import { SlotKeeper } from './slot-keeper';
import { MAX_BATCH, slotOptionsOf, type LimitStoreOptions } from './store-options';

export interface ClusterLimitStoreOptions extends LimitStoreOptions {
  /** A client made by `connectLimitRedis` from a list of URLs. The store does not end it. */
  readonly redis: Cluster;
}

/** Most tags with calls under way: a cluster that hangs must not gather one for every address of an attack. */
const MAX_LANES = 4_096;

/**
 * Counters in a Redis Cluster: every call names keys of one slot only, and each hash tag has a lane of its own while it has work. A check whose charges
 * lie in several tags is judged part by part, `global` first; what an earlier part spent is given back when a later one does not pass, so that in
 * between the calls in flight are missing there (the published exception from all-or-nothing).
 */
export class ClusterLimitStore implements LimitStore {
  private readonly redis: Cluster;
  private readonly testClock: (() => number) | undefined;
  private readonly lanes = new Map<string, BatchLane>();
  private readonly nodes: ClusterNodes;
  private readonly slots: SlotKeeper;
  private readonly host: LaneHost;
  private readonly refunds = new PendingRefunds((charges, deadlineAtMs) => this.refund(charges, deadlineAtMs));
  private readonly deadlines = new DeadlineWatch((at) => this.expire(at));
  private isClosed = false;

  constructor({ redis, testClock, maxBatch = MAX_BATCH, ...options }: ClusterLimitStoreOptions) {
    this.redis = redis;
    this.testClock = testClock;
    this.nodes = new ClusterNodes(redis);
    const nowArg = (): ScriptArg => this.nowArg();
    this.slots = new SlotKeeper({ redis, nowArg, groupOf: tagOf, reconnect: () => this.nodes.dropSilent() }, slotOptionsOf(options));
    this.host = {
      redis, maxBatch, nowArg, slots: this.slots, checks: new CheckBook(), edited: new EditedTenants(),
      watch: (deadlineAtMs) => this.deadlines.watch(deadlineAtMs),
      refundLate: (check, verdict, isDoubted) => this.refunds.add(admitted(check.charges, verdict), () => !isDoubted && tellDoubt(check)),
      reconnect: () => this.nodes.dropSilent(),
      idle: ({ tag }) => this.lanes.delete(tag),
    };
  }

  judgeAndSpend(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return new Promise((resolve) => {
      requireValidCharges(check.charges);
      if (this.isClosed || this.redis.status !== 'ready') {
        resolve(unavailable('disconnected', this.isClosed ? 'store is closed' : `connection is in state ${this.redis.status}`));
        return;
      }
      this.slots.meet(check);
      const parts = partsOf(check);
      resolve(parts.length === 1 ? this.judgePart(parts[0], deadlineAtMs) : this.judgeParts(check, parts, deadlineAtMs));
    });
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.judgeAndSpend(atNoCost(check), deadlineAtMs);
  }

  async refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean> {
    requireValidRefund(charges);
    const byTag = new Map<string, AdmittedCharge[]>();
    for (const charge of charges) byTag.set(tagOf(charge.counter), [...(byTag.get(tagOf(charge.counter)) ?? []), charge]);
    const taken = await Promise.all([...byTag.values()].map((together) => refundTogether(this.redis, together, this.nowArg(), deadlineAtMs)));
    return taken.every(Boolean);
  }

  release(counter: string, onLost?: () => void): void {
    this.slots.release(counter, onLost);
  }

  get slotsHeld(): number {
    return this.slots.held;
  }

  /** Waits for the calls, refunds and releases under way, two seconds at most; checks that still wait are answered `unavailable` at once. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.deadlines.stop();
    const lanes = [...this.lanes.values()];
    for (const lane of lanes) lane.abandon(unavailable('disconnected', 'store is closed'));
    const drained = Promise.all(lanes.map((lane) => lane.drained(UNAWAITED_MS)));
    await Promise.all([drained.then(() => this.refunds.settled()), this.slots.close()]);
  }

  /** One budget over all parts: the later ones reckon from the first one's start. */
  private async judgeParts(check: Check, parts: readonly CheckPart[], deadlineAtMs: number): Promise<Verdict> {
    const since = loopInstant();
    const taken: Taken[] = [];
    for (const part of parts) {
      const verdict = await this.judgePart(part, deadlineAtMs, taken.length === 0 ? undefined : since);
      if (verdict.status === 'allowed') {
        taken.push({ part, verdict });
        continue;
      }
      for (const each of taken) this.giveBack(each);
      if (verdict.status !== 'denied') return verdict;
      const rest = parts.slice(taken.length + 1);
      const looks = await Promise.all(rest.map((later) => this.judgePart({ ...later, check: atNoCost(later.check) }, deadlineAtMs, since)));
      return deniedWhole(check, taken, { part, verdict }, rest.map((later, at) => ({ part: later, verdict: looks[at] })));
    }
    const { verdict, excess } = wholeVerdict(check, taken);
    // Told once, whichever of the parts costs something.
    if (excess.length > 0) this.refunds.add(excess, () => taken.forEach(({ part }) => tellDoubt(part.check)));
    return verdict;
  }

  private giveBack({ part: { check }, verdict }: Taken): void {
    const charges = admitted(check.charges, verdict);
    if (charges.length > 0) this.refunds.add(charges, () => tellDoubt(check));
  }

  private judgePart({ tag, check }: CheckPart, deadlineAtMs: number, since?: LoopInstant): Promise<Verdict> {
    const known = this.lanes.get(tag);
    if (known !== undefined) return known.judge(check, deadlineAtMs, since);
    if (this.lanes.size >= MAX_LANES) return Promise.resolve(unavailable('error', `${MAX_LANES} tags have calls under way`));
    const lane = new BatchLane(this.host, tag);
    this.lanes.set(tag, lane);
    return lane.judge(check, deadlineAtMs, since);
  }

  private expire(at: LoopInstant): number {
    let nextAtMs = Infinity;
    for (const lane of this.lanes.values()) nextAtMs = Math.min(nextAtMs, lane.expire(at));
    return nextAtMs;
  }

  private nowArg(): ScriptArg {
    return this.testClock === undefined ? '' : this.testClock();
  }
}
