import type { ListsDocument, Policy } from '@quotaplane/contracts';
import type { NodeDirectory, PolicyCache, StoreClock, SubjectCache, Wanted } from '@quotaplane/policy';
import type { LimitStore } from '@quotaplane/rate-limit';
import type { CircuitBreaker } from '../degraded/circuit-breaker';
import { FallbackDecider, type FallbackParts } from '../degraded/fallback-decider';
import { LocalShare } from '../degraded/local-share';
import { QuotaMemory } from '../degraded/quota-memory';
import { SlotLossLog } from '../degraded/slot-loss-log';
import type { QuotaMetrics } from '../metrics';
import { AdmissionKeeper, type KeeperParts } from './admission-keeper';
import { Decider } from './decider';
import { DeniedCalls } from './denied-calls';
import type { KnownPolicies } from './known-policy';
import { ListedCallers } from './listed-callers';
import { PenaltyLog, type PenaltyRedis } from './penalty-log';
import { ShadowJudge } from './shadow-judge';
import { SlotLedger } from './slot-ledger';
import { SubjectOverrides } from './subject-overrides';
import type { UsageRecorder } from './usage-recorder';

export interface KitParts {
  readonly store: LimitStore;
  /** Counts this node's own calls while the store is away. */
  readonly localStore: LimitStore;
  readonly policies: Pick<PolicyCache, 'accept'>;
  readonly subjects: SubjectCache;
  readonly catalogue: { lists(): ListsDocument | undefined };
  readonly wanted: Pick<Wanted, 'want'>;
  readonly clock: StoreClock;
  readonly breaker: CircuitBreaker;
  readonly directory: Pick<NodeDirectory, 'shareOf'>;
  readonly incarnation: string;
  readonly metrics: QuotaMetrics;
  /** Takes the list of bans that began here. */
  readonly redis: PenaltyRedis;
  readonly warn: (line: string) => void;
  readonly onFallback: FallbackParts['onFallback'];
  readonly onError: (error: Error) => void;
  readonly storeBudgetMs: number;
  /** Longest memory of a denial, in ms; 0: every call asks. */
  readonly deniedForMs: number;
}

/** A decision loop and what answers when the store does not. */
export interface DecisionLoop {
  readonly decider: Decider;
  readonly fallback: FallbackDecider;
}

/** What a decision loop reads its rules from and writes its usage to. */
export interface LoopRules {
  readonly known: KnownPolicies;
  readonly usage: UsageRecorder;
  /** Until the first policy is seen. */
  readonly defaults: Policy;
}

/** What all decision loops of a node share: who is listed, which slots are held, what bans began. Makes the loops. */
export class DecisionKit {
  private readonly slots = new SlotLedger();
  private readonly quotas = new QuotaMemory();
  private readonly lists: ListedCallers;
  private readonly subjects: SubjectOverrides;
  private readonly shadows: ShadowJudge;
  private readonly penalties: PenaltyLog;
  private readonly slotLosses: SlotLossLog;
  private readonly denied: DeniedCalls;

  constructor(private readonly parts: KitParts) {
    const { catalogue, subjects, wanted, store, metrics, redis, onError, warn } = parts;
    this.lists = new ListedCallers(catalogue);
    this.subjects = new SubjectOverrides(subjects, wanted);
    this.shadows = new ShadowJudge(store, (decision) => metrics.shadowed(decision));
    this.penalties = new PenaltyLog({ redis, onError, onDropped: (count) => metrics.droppedStatistics(count) });
    this.slotLosses = new SlotLossLog(warn);
    this.denied = new DeniedCalls(parts.deniedForMs, () => parts.clock.monotonicMs());
    metrics.watchSlots(() => this.slots.inUse);
  }

  loopWith({ known, usage, defaults }: LoopRules): DecisionLoop {
    const { store, localStore, clock, directory, incarnation, metrics, onFallback } = this.parts;
    const { lists, subjects, slots, shadows, quotas, denied } = this;
    const admissions = new AdmissionKeeper({ ...this.keeping(usage), store, journal: (call, plan, generation, units) => usage.admitted(call, plan, generation, units) });
    const degraded = new AdmissionKeeper({
      ...this.keeping(usage),
      // Slots of an outage are on this process's ledger alone.
      store: { refund: (...charges) => localStore.refund(...charges), release: () => undefined },
      // How such units are settled is the tier's to say, so that none of them is ever given back.
      journal: (call, plan, generation, units) => void usage.admittedDegraded(call, plan, generation, units),
    });
    const share = new LocalShare({ store: localStore, slots, quotas, directory, incarnation });
    const fallback = new FallbackDecider({ known, share, clock, admissions: degraded, lists, subjects, defaults, onFallback });
    const { policies, wanted, breaker, storeBudgetMs } = this.parts;
    const onStoreFailure = (cause: string): void => metrics.storeFailed(cause);
    const decider = new Decider({ store, policies, known, wanted, clock, breaker, fallback, admissions, lists, subjects, shadows, quotas, denied, onStoreFailure, storeBudgetMs });
    return { decider, fallback };
  }

  start(): void {
    this.penalties.start();
  }

  /** The last flush of the bans that began here. */
  close(): Promise<void> {
    return this.penalties.close();
  }

  private keeping(usage: UsageRecorder): Omit<KeeperParts, 'store' | 'journal'> {
    const { metrics } = this.parts;
    return {
      slots: this.slots,
      refund: (cell, units) => usage.refund(cell, units),
      doubt: (cell, units) => usage.doubted(cell, units),
      onGivingBack: (tenant) => this.denied.open(tenant),
      onRefund: (endpointClass, reason) => metrics.refunded(endpointClass, reason),
      onSlotLost: (endpointClass) => {
        metrics.lostSlot(endpointClass);
        this.slotLosses.record(endpointClass);
      },
      onBan: (ban, endpointClass) => {
        metrics.banned(ban, endpointClass);
        this.penalties.began(ban);
      },
    };
  }
}
