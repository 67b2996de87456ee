import { admitted } from '../admitted';
import { atNoCost } from '../at-no-cost';
import type { AdmittedCharge, Check, LimitStore, Verdict } from '../store';
import { requireValidRefund } from '../valid-charges';
import { BatchLane } from './batch-lane';
import type { LimitRedis } from './connect-limit-redis';
import { DeadlineWatch } from './deadline-watch';
import { EditedTenants } from './edited-tenants';
import type { ScriptArg } from './encoded-batch';
import { tellDoubt } from './doubt';
import { unavailable } from './outage';
import { CheckBook } from './prepared-check';
import { PendingRefunds, refundTogether, UNAWAITED_MS } from './redis-refund';
import { SlotKeeper } from './slot-keeper';
import { MAX_BATCH, slotOptionsOf, type RedisLimitStoreOptions } from './store-options';

/** Counters in one Redis, in one lane. A cluster is for `ClusterLimitStore`; `createLimitStore` picks. */
export class RedisLimitStore implements LimitStore {
  private readonly redis: LimitRedis;
  private readonly testClock: (() => number) | undefined;
  private readonly lane: BatchLane;
  private readonly slots: SlotKeeper;
  private readonly checks = new CheckBook();
  private readonly lateRefunds = new PendingRefunds((charges, deadlineAtMs) => this.refund(charges, deadlineAtMs));
  private readonly deadlines: DeadlineWatch;
  private isClosed = false;

  constructor({ redis, testClock, maxBatch = MAX_BATCH, ...options }: RedisLimitStoreOptions) {
    this.redis = redis;
    this.testClock = testClock;
    const nowArg = (): ScriptArg => this.nowArg();
    const reconnect = (): void => redis.disconnect(true);
    this.slots = new SlotKeeper({ redis, nowArg, groupOf: () => '', reconnect }, slotOptionsOf(options));
    const lane = new BatchLane(
      {
        redis, maxBatch, slots: this.slots, checks: this.checks, edited: new EditedTenants(), nowArg, reconnect, idle: () => undefined,
        watch: (deadlineAtMs) => this.deadlines.watch(deadlineAtMs),
        refundLate: (check, verdict, isDoubted) => this.lateRefunds.add(admitted(check.charges, verdict), () => !isDoubted && tellDoubt(check)),
      },
      '',
    );
    this.lane = lane;
    this.deadlines = new DeadlineWatch((at) => lane.expire(at));
  }

  judgeAndSpend(check: Check, deadlineAtMs: number): Promise<Verdict> {
    let isPlain: boolean;
    try {
      ({ isPlain } = this.checks.prepared(check));
    } catch (error) {
      // A charge that is no charge rejects and never throws.
      return Promise.reject(error instanceof Error ? error : new TypeError(String(error)));
    }
    if (this.isClosed || this.redis.status !== 'ready') {
      return Promise.resolve(unavailable('disconnected', this.isClosed ? 'store is closed' : `connection is in state ${this.redis.status}`));
    }
    if (!isPlain) this.slots.meet(check);
    return this.lane.judge(check, deadlineAtMs);
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.judgeAndSpend(atNoCost(check), deadlineAtMs);
  }

  async refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean> {
    requireValidRefund(charges);
    return refundTogether(this.redis, charges, this.nowArg(), deadlineAtMs);
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
    this.lane.abandon(unavailable('disconnected', 'store is closed'));
    await Promise.all([this.lane.drained(UNAWAITED_MS).then(() => this.lateRefunds.settled()), this.slots.close()]);
  }

  private nowArg(): ScriptArg {
    return this.testClock === undefined ? '' : this.testClock();
  }
}
