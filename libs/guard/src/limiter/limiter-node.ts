import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { CatalogueCache, ChangeFeed, followChanges, Heartbeat, KeyIndex, NodeDirectory, PolicyCache, StoreClock, SubjectCache, Wanted } from '@quotaplane/policy';
import {
  connectLimitRedis, createConcurrencyGate, createLimitStore, InProcessLimitStore, type ConcurrencyGate, type LimitStore,
} from '@quotaplane/rate-limit';
import { Journal, OffenderLog, RetryWatch, TrafficLog } from '@quotaplane/usage';
import type { Call } from '../decide/call';
import type { Decider } from '../decide/decider';
import { DecisionKit, type DecisionLoop, type LoopRules } from '../decide/decision-kit';
import type { GuardDecision } from '../decide/guard-decision';
import { KnownPolicies } from '../decide/known-policy';
import { UsageRecorder } from '../decide/usage-recorder';
import { CircuitBreaker } from '../degraded/circuit-breaker';
import { ConnectionLog } from '../degraded/connection-log';
import { defaultPolicy } from '../degraded/default-policy';
import { degradedLine, DegradedLog } from '../degraded/degraded-log';
import type { FallbackDecider } from '../degraded/fallback-decider';
import { ApiKeyIdentity } from '../identity/api-key.identity';
import { ClientAddress } from '../identity/client-address';
import type { IdentityResolver } from '../identity/identity';
import { QuotaMetrics } from '../metrics';
import { globalMeter } from '../open-telemetry';
import type { ResolvedOptions } from '../resolve-options';
import type { GateOptions } from './gate-options';
import type { LimiterLogger } from './limiter-logger';
import { saveLastJournal } from './last-journal';
import { within } from './within';

/** With a budget of 25 ms it opens after about 75 ms of silence; each call before that waits its budget and no longer. */
const BREAKER = { failureThreshold: 4, spacingMs: 20, openMs: 100, now: () => performance.now() };
type LimitRedis = ReturnType<typeof connectLimitRedis>;

const LOCAL_COUNTERS_MAX = 100_000;

/** Silence of the platform's connection, with a command under way, after which it is made anew, in ms. */
const PLATFORM_SILENCE_MS = 2000;
/** Longest wait for each part at start and at the end: a store that is away must hold up neither. */
const START_WAIT_MS = 1000;
const STOP_WAIT_MS = 2000;

/**
 * Everything one life of a node runs: connections, caches, feed, heartbeat, journal and the decision loop. Knows no framework.
 * `start()`, then `announce()` once it serves, then `stop()` when it has served its last call.
 */
export class LimiterNode implements DecisionLoop {
  readonly incarnation = randomUUID();
  readonly metrics: QuotaMetrics;
  readonly addresses: ClientAddress;
  readonly apiKeys: ApiKeyIdentity;
  readonly identity: IdentityResolver;
  readonly policies: PolicyCache;
  readonly catalogue: CatalogueCache;
  readonly decider: Decider;
  readonly fallback: FallbackDecider;
  readonly usage: UsageRecorder;
  private readonly degradedLog: DegradedLog;
  private readonly connectionLog: ConnectionLog;
  private readonly clock = new StoreClock();
  private readonly breaker = new CircuitBreaker(BREAKER);
  /** Decisions have a connection of their own, so that no flush ever stands before one. */
  private readonly limitRedis: LimitRedis;
  private readonly platformRedis: LimitRedis;
  private readonly store: LimitStore;
  private readonly wanted: Wanted;
  private readonly journal: Journal;
  private readonly offenders: OffenderLog;
  private readonly traffic: TrafficLog;
  private readonly feed: ChangeFeed;
  private readonly heartbeat: Heartbeat;
  private readonly directory: NodeDirectory;
  private readonly kit: DecisionKit;
  private isStopped = false;

  constructor(
    readonly options: ResolvedOptions,
    readonly logger: LimiterLogger,
  ) {
    const { redisUrl, service, kind, version, expectedNodes } = options;
    const { clock, incarnation } = this;
    this.metrics = new QuotaMetrics(options.registry);
    this.degradedLog = new DegradedLog((event) => logger.warn(degradedLine(event, service)));
    const onError = (_error: unknown, where = 'usage'): void => this.metrics.storeFailed(where);
    this.limitRedis = connectLimitRedis(redisUrl);
    // All connections go to one address: this one speaks for them.
    this.connectionLog = new ConnectionLog(this.limitRedis, { write: (line) => logger.warn(line) });
    // A peer that fell silent without a word sends nothing that would end the connection; replies of a link that lost bytes would answer the wrong command.
    this.platformRedis = connectLimitRedis(redisUrl, { socketTimeout: PLATFORM_SILENCE_MS });
    const redis = this.platformRedis;
    this.wanted = new Wanted({ redis, onError });
    this.policies = new PolicyCache({ redis, onError });
    this.catalogue = new CatalogueCache({ redis, wanted: this.wanted, onError });
    const keys: KeyIndex = new KeyIndex({ redis, wanted: this.wanted, onError, feed: { get isCurrent() { return feed.isCurrent; } } });
    const feed: ChangeFeed = new ChangeFeed({
      connect: () => connectLimitRedis(redisUrl),
      handler: followChanges({ policies: this.policies, keys, catalogue: this.catalogue, applied: () => void this.heartbeat.beat() }),
      onError,
    });
    this.feed = feed;
    this.heartbeat = new Heartbeat({
      redis, clock, onError,
      node: { incarnation, service, kind, version, host: hostname(), pid: process.pid, startedAtMs: Date.now() },
      position: () => feed.position,
      mode: () => (this.breaker.isOpen ? 'degraded' : 'healthy'),
    });
    this.directory = new NodeDirectory({ redis, kind, expectedNodes, onError });
    const log = { redis, storeNow: () => clock.now(), onError: (error: Error) => onError(error) };
    this.journal = new Journal({ ...log, incarnation, service });
    const statistics = { ...log, onDropped: (count: number) => this.metrics.droppedStatistics(count) };
    this.offenders = new OffenderLog(statistics);
    this.traffic = new TrafficLog(statistics);
    const retries = new RetryWatch({
      onRetry: (result, subject) => {
        this.metrics.retried(result);
        this.offenders.retried(subject, result);
      },
    });
    this.usage = new UsageRecorder(this.journal, this.offenders, this.traffic, { watch: retries, storeNow: () => clock.now() });
    this.store = createLimitStore(this.limitRedis, { incarnation });
    this.kit = new DecisionKit({
      store: this.store, clock, incarnation, redis, policies: this.policies, subjects: new SubjectCache(), catalogue: this.catalogue, wanted: this.wanted,
      localStore: new InProcessLimitStore({ maxCounters: LOCAL_COUNTERS_MAX, now: () => clock.now() }),
      breaker: this.breaker, directory: this.directory, metrics: this.metrics, storeBudgetMs: options.storeBudgetMs, deniedForMs: options.deniedForMs,
      warn: (line) => logger.warn(line),
      onError: (error) => onError(error),
      onFallback: (call, decision, cause) => this.fellBack(call, decision, cause),
    });
    const known = new KnownPolicies(this.policies, this.catalogue);
    ({ decider: this.decider, fallback: this.fallback } = this.loopWith({ known, usage: this.usage, defaults: defaultPolicy(options.defaultLimits) }));
    this.addresses = new ClientAddress({
      ...options,
      onUndeclaredProxy: (peer) =>
        logger.warn(`X-Forwarded-For from ${peer} is ignored: it is not one of trustedProxies, so all its callers are counted as one address`),
    });
    this.apiKeys = new ApiKeyIdentity(keys, options.storeBudgetMs, () => this.breaker.isOpen);
    this.identity = typeof options.identity === 'function' ? options.identity(this.apiKeys) : (options.identity ?? this.apiKeys);
  }

  /** A cap on tasks at once over all nodes, on this node's store. The name is kept apart from those of the platform's own counts. */
  gateOf({ name, ...options }: GateOptions): ConcurrencyGate {
    const shareOf = (limit: number): number => this.directory.shareOf(limit, this.incarnation);
    return createConcurrencyGate({ ...options, name: `gate.${name}`, store: this.store, shareOf, deadlineMs: this.options.storeBudgetMs });
  }

  /** A decision loop with rules of its own over this node's store, clock and breaker. */
  loopWith(rules: LoopRules): DecisionLoop {
    return this.kit.loopWith(rules);
  }

  /** Starts what the first decision needs; a store that is away delays it by a second or two at most. */
  async start(): Promise<void> {
    await within(START_WAIT_MS, Promise.all([readyOf(this.limitRedis), readyOf(this.platformRedis)]));
    await within(START_WAIT_MS, Promise.all([this.feed.start(START_WAIT_MS), this.catalogue.start(), this.directory.start()]));
    this.journal.start();
    this.offenders.start();
    this.traffic.start();
    this.kit.start();
    await this.mirrorMetrics();
  }

  /** From here on the node shows up in receipts: it serves. */
  async announce(): Promise<void> {
    await within(START_WAIT_MS, this.heartbeat.start());
    await within(START_WAIT_MS, this.directory.refresh());
  }

  /** The last flush of the journal, then this node leaves the list. Call it when the last call has been served; again, it does nothing. */
  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    this.connectionLog.stop();
    this.degradedLog.flush();
    this.catalogue.stop();
    this.directory.stop();
    // First, for the store may still say of units that they are in doubt, which the journal notes.
    await within(STOP_WAIT_MS, Promise.all([this.store.close(), this.offenders.close(), this.traffic.close(), this.kit.close(), this.feed.stop()]));
    await saveLastJournal(this.journal, this.options.platform, this.logger);
    await within(STOP_WAIT_MS, this.heartbeat.stop());
    this.limitRedis.disconnect();
    this.platformRedis.disconnect();
  }

  private async mirrorMetrics(): Promise<void> {
    const { openTelemetry } = this.options;
    if (openTelemetry === false) return;
    try {
      this.metrics.mirrorTo(openTelemetry === true ? await globalMeter() : openTelemetry);
    } catch (error) {
      // Metrics are no reason to stop a service.
      this.logger.error(error instanceof Error ? error.message : String(error));
    }
  }

  private fellBack(call: Call, decision: GuardDecision, cause: string): void {
    const { slug, failMode } = call.class;
    this.metrics.fellBack(failMode, slug);
    this.degradedLog.record({ class: slug, mode: failMode, source: decision.source, detail: cause });
  }
}

function readyOf(redis: LimitRedis): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => redis.once('ready', () => resolve()));
}
