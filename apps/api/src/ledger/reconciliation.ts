import { Inject, Injectable, Logger } from '@nestjs/common';
import { NODE_ALIVE_MS } from '@quotaplane/contracts';
import { liveNodes, readNodes } from '@quotaplane/policy';
import { QUOTA_COUNTERS_PATTERN, quotaNameOf, readQuotas, type QuotaName } from '@quotaplane/rate-limit';
import type { JournalRow } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { failpoint } from '../config/failpoints';
import { PrismaService, type Tx } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { readAsOf } from '../usage/fold-sql';
import { compareCounter, type CounterSample } from './compare-counters';
import { counterId, holdReturns, markLost, readCounterNames, readJournaled, readLastLoss, readLostLives, upsertCounters, type ComparedCounter, type JournaledCounter } from './counter-sql';
import { touchUsage, type TouchedPeriod } from './touch-usage';

/** Silent for this long: presumed dead, ms. Its counters are then looked through this often, 5 s apart. */
const SILENT_MS = 2 * NODE_ALIVE_MS;
const LOOKS_PER_LIFE = 12;
/** Lives that went silent longer ago are the closing's business, ms. */
const LOST_WITHIN_MS = 86_400_000;
/** Between reading a counter and believing that a later flush has all of it: calls that were under way, and the node's idea of the store's time, ms. */
const MARGIN_MS = 500;
const NOTED_MAX = 50_000;
const SCAN_COUNT = 1_000;
/** Samples that no fold has caught up with are given up, ms: a node that lives without flushing would hold them for ever. */
const SAMPLE_LIFE_MS = 60_000;

/** A period whose end has passed. */
export interface EndedPeriod extends TouchedPeriod {
  readonly startAt: Date;
  readonly endAt: Date;
}

export interface Sample extends CounterSample {
  readonly name: QuotaName;
  readonly atMs: number;
  /** Taken since a node was lost: only then may units be recovered. */
  readonly lost: boolean;
}

/**
 * Compares Redis's counters with the journals: what only a dead node knew is booked as `recovered`, what a counter lost goes into the base. A sample
 * is taken in one run and judged in a later one, when every living node has flushed since. All of it is worked out anew whenever it is asked.
 * @see docs/adr/0014-reconciliation.md
 */
@Injectable()
export class Reconciliation {
  private readonly logger = new Logger(Reconciliation.name);
  private readonly noted = new Map<string, QuotaName>();
  private readonly looks = new Map<string, number>();
  private samples: Sample[] = [];
  /** Specs, whose writes are in order, need none. */
  protected readonly marginMs: number = MARGIN_MS;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(REDIS) private readonly redis: Redis) {}

  /** Counters that a fold has just seen move: the next run looks at them. */
  note(rows: readonly JournalRow[]): void {
    for (const { tenant, meter, periodId, part, generation } of rows) {
      if (this.noted.size >= NOTED_MAX) return;
      const name = { tenant, meter, periodId, part, generation };
      this.noted.set(counterId(name), name);
    }
  }

  /** Judges the samples that are ripe and takes new ones. */
  async run(): Promise<void> {
    const asOf = await readAsOf(this.prisma, NODE_ALIVE_MS);
    if (asOf === null) return;
    const { nodes, nowMs } = await readNodes(this.redis);
    await this.judge(asOf.getTime(), nowMs);
    const living = new Set(liveNodes(nodes, nowMs).map(({ incarnation }) => incarnation));
    const silent = nodes.filter((node) => node.kind === 'service' && nowMs - node.seenAtMs > SILENT_MS).map(({ incarnation }) => incarnation);
    // Where the fold stood still, such as while Postgres was away, those that live look as silent in the ledger as the dead.
    const lives = (await readLostLives(this.prisma, new Date(nowMs - SILENT_MS), new Date(nowMs - LOST_WITHIN_MS))).filter((id) => !living.has(id));
    // Marked before anything is booked for them: a fold that brings one back must know.
    const newlyLost = [...new Set([...lives, ...silent.filter((id) => !this.looks.has(id))])];
    if (newlyLost.length > 0) await this.prisma.transaction((tx) => markLost(tx, newlyLost, new Date(nowMs)));
    // One that lives again has all its looks before it, and one that is neither heard of nor looked for any more is forgotten.
    for (const [id, count] of this.looks) if (living.has(id) || (count >= LOOKS_PER_LIFE && !silent.includes(id))) this.looks.delete(id);
    const lost = [...new Set([...silent, ...lives, ...this.looks.keys()])].filter((id) => !living.has(id) && (this.looks.get(id) ?? 0) < LOOKS_PER_LIFE);
    for (const id of lost) this.looks.set(id, (this.looks.get(id) ?? 0) + 1);
    if (lost.length > 0) await this.sample(await this.standingCounters(), nowMs, true);
    const names = [...this.noted.values()];
    this.noted.clear();
    await this.sample(names, nowMs, false);
  }

  /**
   * The last word on periods that have ended: called by the closing in its transaction, before the figures are read. Only those in which, or since which, a
   * node was lost, and whose living nodes have all flushed since they ended: any other difference is nobody's usage, and is for the statement to show.
   */
  async settle(tx: Tx, periods: readonly EndedPeriod[]): Promise<void> {
    const [lostAt, asOf] = [await readLastLoss(tx), await readAsOf(tx, NODE_ALIVE_MS)];
    if (lostAt === null || asOf === null) return;
    const due = periods.filter(({ startAt, endAt }) => lostAt >= startAt && asOf.getTime() > endAt.getTime() + this.marginMs);
    if (due.length === 0) return;
    await holdReturns(tx);
    const journaled = await readJournaled(tx, await readCounterNames(tx, due));
    // A store that is away holds no closing up: the statement says that it could not be read.
    const stored = await readQuotas(this.redis, journaled).catch(() => undefined);
    if (stored === undefined) return;
    const compared = journaled.flatMap((before, index) => {
      const quota = stored[index];
      return quota?.counter === null || quota === undefined ? [] : [compareCounter({ before, stored: quota }, before)];
    });
    await upsertCounters(tx, compared, new Date());
  }

  private async sample(names: readonly QuotaName[], nowMs: number, lost: boolean): Promise<void> {
    if (names.length === 0) return;
    // In this order: what the journals had before the counter was read cannot be missing from it.
    const journaled = await readJournaled(this.prisma, names);
    const stored = await readQuotas(this.redis, names);
    const [seconds, micros] = await this.redis.time();
    const atMs = Math.max(nowMs, Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
    names.forEach((name, index) => {
      const [before, quota] = [journaled[index], stored[index]];
      if (before && quota) this.samples.push({ name, before, stored: quota, atMs, lost });
    });
  }

  private async judge(asOfMs: number, nowMs: number): Promise<void> {
    const ripe = this.samples.filter(({ atMs }) => atMs + this.marginMs < asOfMs);
    if (ripe.length > 0) {
      const found = foundOf(ripe, await readJournaled(this.prisma, ripe.map(({ name }) => name)));
      if (found.length > 0) await this.book(ripe.filter(({ name }) => found.some((one) => counterId(one) === counterId(name))), new Date(nowMs));
    }
    const done = new Set(ripe);
    this.samples = this.samples.filter((sample) => !done.has(sample) && nowMs - sample.atMs < SAMPLE_LIFE_MS);
  }

  /** Compares anew while no life can come back: one that did since the first look has brought its units itself. */
  protected async book(samples: readonly Sample[], at: Date): Promise<void> {
    const { changed, found } = await this.prisma.transaction(async (tx) => {
      await holdReturns(tx);
      const all = foundOf(samples, await readJournaled(tx, samples.map(({ name }) => name)));
      const last = [...new Map(all.map((one) => [counterId(one), one])).values()];
      const touched = await upsertCounters(tx, last, at);
      await touchUsage(tx, touched);
      failpoint('reconcile.before-commit');
      return { changed: touched, found: last };
    });
    for (const { tenant, periodId } of changed) {
      const own = found.filter((one) => one.tenant === tenant && one.periodId === periodId);
      const sum = (of: (one: (typeof own)[number]) => bigint): bigint => own.reduce((total, one) => total + of(one), 0n);
      this.logger.warn(`${tenant}, period ${periodId}: ${sum((one) => one.recovered)} units recovered from counters, ${sum((one) => one.gap)} lost by counters`);
    }
  }

  /** Every quota's counter that stands in Redis: a node may have died before anybody had journaled for one. */
  private async standingCounters(): Promise<QuotaName[]> {
    const names: QuotaName[] = [];
    for (let cursor = '0'; ;) {
      const [next, keys] = await this.redis.scan(cursor, 'MATCH', QUOTA_COUNTERS_PATTERN, 'COUNT', SCAN_COUNT);
      for (const key of keys) {
        const name = quotaNameOf(key);
        if (name) names.push(name);
      }
      if (next === '0') return [...new Map(names.map((name) => [counterId(name), name])).values()];
      cursor = next;
    }
  }
}

/** @param after in the order of the samples */
const foundOf = (samples: readonly Sample[], after: readonly JournaledCounter[]): ComparedCounter[] => samples.flatMap((sample, index) => {
  const now = after[index];
  if (!now) return [];
  const compared = compareCounter(sample, now);
  if (sample.lost) return compared.recovered > 0n || compared.gap > 0n ? [compared] : [];
  return compared.gap > 0n ? [{ ...compared, recovered: 0n, isExact: false }] : [];
});
