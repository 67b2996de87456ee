import type { ListsDocument, Policy } from '@quotaplane/contracts';
import { PolicyCache, StoreClock, SubjectCache, type PolicyRedis } from '@quotaplane/policy';
import { InProcessLimitStore, type AdmittedCharge, type Check, type LimitStore, type Verdict } from '@quotaplane/rate-limit';
import { TestClock } from '@quotaplane/testing';
import { Registry } from 'prom-client';
import type { Call } from '../decide/call';
import { DecisionKit, type DecisionLoop } from '../decide/decision-kit';
import { KnownPolicies } from '../decide/known-policy';
import { UsageRecorder } from '../decide/usage-recorder';
import { CircuitBreaker } from '../degraded/circuit-breaker';
import { defaultPolicy } from '../degraded/default-policy';
import { QuotaMetrics } from '../metrics';
import { policyOf, type PolicyParts } from './policies';

const TENANT = 'hobby';

/** The in-process store, asked under a head as Redis is; counts what it is asked, and can be away or slow on either way. */
export class HeadedStore implements LimitStore {
  calls = 0;
  isAway = false;
  /** What happens to the time while a check is under way, and while its answer is. */
  onTheWay: { readonly toMs: number; readonly backMs: number } = { toMs: 0, backMs: 0 };
  head = '';
  policy: Policy | undefined;
  readonly slotsHeld = 0;

  constructor(private readonly counters: InProcessLimitStore, private readonly clock: TestClock) {}

  async judgeAndSpend(check: Check, deadlineAtMs: number): Promise<Verdict> {
    this.calls += 1;
    if (this.isAway) return { status: 'unavailable', cause: 'deadline', detail: 'away' };
    this.clock.advance(this.onTheWay.toMs);
    const verdict = await this.answer(check, deadlineAtMs);
    this.clock.advance(this.onTheWay.backMs);
    return verdict;
  }

  peek(check: Check, deadlineAtMs: number): Promise<Verdict> {
    return this.counters.peek(check, deadlineAtMs);
  }

  refund(charges: readonly AdmittedCharge[], deadlineAtMs: number): Promise<boolean> {
    return this.counters.refund(charges, deadlineAtMs);
  }

  release(): void {
    // No test here holds a slot to its end.
  }

  close(): Promise<void> {
    return this.counters.close();
  }

  private answer(check: Check, deadlineAtMs: number): Promise<Verdict> | Verdict {
    if (check.knownHead === this.head) return this.counters.judgeAndSpend(check, deadlineAtMs);
    return { status: 'stale', nowMs: this.clock.now(), head: this.head, policy: JSON.stringify(this.policy), subjects: check.subjectFields.map(() => null) };
  }
}

/** A decision loop on a clock that the test sets: store and node keep the same time, which passes only on the way between them. */
export class DecisionRig {
  readonly clock = new TestClock(Date.now());
  readonly store = new HeadedStore(new InProcessLimitStore({ maxCounters: 1_000_000, now: this.clock.now }), this.clock);
  readonly policies: PolicyCache;
  readonly loop: DecisionLoop;
  readonly denials: string[] = [];
  readonly units: number[] = [];
  private revision = 0;

  /** @param redis never asked: heads come with the answers here */
  constructor(redis: PolicyRedis & { hset(key: string, ...fieldsAndValues: string[]): Promise<unknown> }, deniedForMs: number) {
    const { clock, store } = this;
    this.policies = new PolicyCache({ redis });
    const catalogue = { lists: (): ListsDocument | undefined => undefined, fallback: (): Policy | undefined => undefined };
    const nothing = (): void => undefined;
    const kit = new DecisionKit({
      store, localStore: new InProcessLimitStore({ maxCounters: 1000, now: clock.now }), policies: this.policies, subjects: new SubjectCache(), catalogue,
      wanted: { want: nothing }, clock: new StoreClock(clock.now), breaker: new CircuitBreaker({ failureThreshold: 4, spacingMs: 20, openMs: 100, now: clock.now }),
      directory: { shareOf: (units) => units }, incarnation: 'this', metrics: new QuotaMetrics(new Registry()), redis, warn: nothing, onFallback: nothing, onError: nothing,
      storeBudgetMs: 25, deniedForMs,
    });
    const journal = { admit: (_cell: unknown, units: number) => void this.units.push(units), admitDegraded: nothing, refund: () => 0, doubt: nothing };
    const usage = new UsageRecorder(journal, { record: ({ subject, limit }) => void this.denials.push(`${subject} ${limit}`) }, { allowed: nothing, denied: nothing });
    this.loop = kit.loopWith({ known: new KnownPolicies(this.policies, catalogue), usage, defaults: defaultPolicy([]) });
    this.decide = async (parts = {}) => {
      const call = callOf(parts);
      const decision = await this.loop.decider.decide(call);
      usage.decided(call, decision);
      return decision;
    };
  }

  readonly decide: (parts?: Partial<Call>) => ReturnType<DecisionLoop['decider']['decide']>;

  /** What the platform publishes; the node hears of it with its next answer. */
  publish(parts: PolicyParts): void {
    this.store.policy = policyOf({ ...parts, tenant: TENANT, revision: (this.revision += 1) });
    this.store.head = `${this.revision}.1`;
  }

  /** The feed names the tenant's new head, as it does within milliseconds. */
  announce(): void {
    this.policies.drop(TENANT, this.store.head);
  }
}

export const callOf = (parts: Partial<Call> = {}): Call => ({
  tenant: TENANT, isAnonymous: false, class: { slug: 'default', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/', cost: 1,
  address: '192.0.2.1', arrivedAtMs: 0, ...parts,
});
