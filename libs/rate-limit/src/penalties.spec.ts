import * as testing from '@quotaplane/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { penaltyKey } from './counter-key';
import { countOf } from './rig/connected';
import { describeOnEveryStore } from './rig/every-store';
import { bucketOf, KINDS, MINUTE_MS, rateOf, stateOf } from './rig/rates';
import type { Charge, PenaltyRule, RateCharge, Verdict } from './store';

const HOUR_MS = 3_600_000;
const penaltyOf = (change: Partial<PenaltyRule> = {}): PenaltyRule => ({
  counter: penaltyKey({ tenant: 't', limit: 'login', algorithm: 'token-bucket', windowMs: MINUTE_MS, scope: 'ip', subject: '192.0.2.1' }),
  strikes: 3, withinMs: MINUTE_MS, banMs: 10_000, factor: 2, maxBanMs: 30_000, forgiveAfterMs: HOUR_MS, ...change,
});
/** Full after one call for as long as the clock of a case runs. */
const full = (change: Partial<PenaltyRule> = {}): RateCharge => ({ ...bucketOf('login', 1, 86_400_000), penalty: penaltyOf(change) });

/** A second reading of the rule, by lists: every strike and ban ever, and nothing stored that could be derived. */
class NaivePenalty {
  private strikes: number[] = [];
  private readonly bans: { fromMs: number; untilMs: number }[] = [];

  constructor(private readonly rule: PenaltyRule) {}

  /** What a call that the rate denies is told. */
  deny(nowMs: number): { bannedMs: number; banLevel: number | undefined } {
    const last = this.bans.at(-1);
    if (last !== undefined && nowMs < last.untilMs) return { bannedMs: last.untilMs - nowMs, banLevel: undefined };
    if (last !== undefined && nowMs - last.untilMs >= this.rule.forgiveAfterMs) {
      this.bans.length = 0;
      this.strikes = [];
    }
    if (this.strikes[0] !== undefined && nowMs - this.strikes[0] >= this.rule.withinMs) this.strikes = [];
    this.strikes.push(nowMs);
    if (this.strikes.length < this.rule.strikes) return { bannedMs: 0, banLevel: undefined };
    const bannedMs = Math.min(this.rule.maxBanMs, this.rule.banMs * this.rule.factor ** this.bans.length);
    this.bans.push({ fromMs: nowMs, untilMs: nowMs + bannedMs });
    this.strikes = [];
    return { bannedMs, banLevel: this.bans.length };
  }
}

describeOnEveryStore('penalties', testing, (place) => {
  const judge = (...charges: Charge[]): Promise<Verdict> => place().judge(charges);

  // Mutation: settle strikes at the end of a batch only; count calls of a ban as strikes.
  it.each(KINDS)('bans at the third of many parallel denials, once: %s', async (kind) => {
    const rate = { ...rateOf(kind, 2), penalty: penaltyOf({ banMs: 600_000, maxBanMs: 600_000 }) };
    const verdicts = await place().judgeMany(50, [rate]);
    expect(countOf(verdicts, 'allowed')).toBe(2);
    expect(verdicts.filter((verdict) => 'states' in verdict && verdict.states[0]?.banLevel === 1)).toHaveLength(1);
    expect(verdicts.filter((verdict) => 'states' in verdict && verdict.states[0]?.bannedMs === 600_000)).toHaveLength(46);
    expect(stateOf(verdicts[49]!)).toMatchObject({ bannedMs: 600_000, retryAfterMs: 600_000 });
    expect(stateOf(verdicts[49]!)).not.toHaveProperty('banLevel');
  });

  // Mutation: judge the rate before the ban; spend other charges of a banned call.
  it('denies while it lasts whatever is left of the rate, and spends nothing', async () => {
    const other = bucketOf('other', 10, 86_400_000);
    const quick = { ...rateOf('bucket', 1, 1_000), penalty: penaltyOf() };
    await place().judgeMany(4, [quick]);
    place().clock.advance(5_000);
    expect(await judge(other, quick)).toMatchObject({ status: 'denied', states: [{ remaining: 10, retryAfterMs: 0 }, { remaining: 1, retryAfterMs: 5_000, bannedMs: 5_000 }] });
    expect(await place().peek([quick])).toMatchObject({ status: 'denied', states: [{ bannedMs: 5_000 }] });
    place().clock.advance(5_000);
    expect(await judge(other, quick)).toMatchObject({ status: 'allowed', states: [{ remaining: 9 }, { remaining: 0 }] });
  });

  // Mutation: forget the level at the end of a ban; never cap it; forgive too early.
  it('grows with each ban up to its ceiling, and is forgiven', async () => {
    await judge(full());
    const lengths: (number | undefined)[] = [];
    for (let ban = 0; ban < 4; ban += 1) {
      const denied = await place().judgeMany(3, [full()]);
      lengths.push(stateOf(denied[2]!).bannedMs);
      expect(stateOf(denied[2]!).banLevel).toBe(ban + 1);
      place().clock.advance(lengths[ban] ?? 0);
    }
    expect(lengths).toEqual([10_000, 20_000, 30_000, 30_000]);
    place().clock.advance(HOUR_MS - 1);
    expect(stateOf((await place().judgeMany(3, [full()]))[2]!)).toMatchObject({ banLevel: 5, bannedMs: 30_000 });
    place().clock.advance(30_000 + HOUR_MS);
    expect(stateOf((await place().judgeMany(3, [full()]))[2]!)).toMatchObject({ banLevel: 1, bannedMs: 10_000 });
  });

  // Mutation: count a strike for any denied check, for a cost above the capacity, or for a look.
  it('counts denials by its own rate alone, within its time', async () => {
    const closed: Charge = bucketOf('closed', 0, 1_000);
    const open = { ...full(), counter: 'qp:{t}:c:open', limit: 100, capacity: 100 } as RateCharge;
    await judge(full());
    for (let at = 0; at < 5; at += 1) {
      await judge(open, closed);
      await judge({ ...open, cost: 101 });
      await place().peek([full()]);
    }
    for (let at = 0; at < 2; at += 1) await judge(full());
    place().clock.advance(MINUTE_MS);
    for (let at = 0; at < 2; at += 1) expect(await judge(full())).not.toHaveProperty('states.0.bannedMs');
    expect(await judge(full())).toHaveProperty('states.0.banLevel', 1);
    if (place().redis !== undefined) expect(await place().redis?.exists('qp:{t}:c:open')).toBe(0);
  });

  // Mutation: TTL of the ban alone.
  it('P06 lives until it is forgiven and a minute more', async () => {
    const redis = place().redis;
    if (redis === undefined) return;
    const { counter } = penaltyOf();
    await judge(full());
    expect(await redis.exists(counter)).toBe(0);
    await judge(full());
    expect(await redis.pttl(counter)).toBeGreaterThan(MINUTE_MS + 58_000);
    await place().judgeMany(2, [full()]);
    const life = await redis.pttl(counter);
    expect(life).toBeGreaterThan(10_000 + HOUR_MS + 58_000);
    expect(life).toBeLessThanOrEqual(10_000 + HOUR_MS + 60_000);
    expect(Buffer.byteLength(counter)).toBeLessThanOrEqual(200);
  });

  // Mutation: keep `until` as it is after a step back.
  it('P05 promises no more than the ban itself after a step back of the clock', async () => {
    await place().judgeMany(4, [full()]);
    place().clock.advance(4_000);
    place().clock.advance(-600_000);
    expect(await judge(full())).toMatchObject({ status: 'denied', states: [{ bannedMs: 10_000 }] });
    place().clock.advance(4_000);
    expect(await judge(full())).toMatchObject({ states: [{ bannedMs: 6_000 }] });
    place().clock.advance(6_000);
    expect(await judge(full())).not.toHaveProperty('states.0.bannedMs');
  });

  it('agrees with a second reading of the rule, over random times', { timeout: 60_000 }, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constantFrom(0, 1, 999, 10_000, 30_000, MINUTE_MS, HOUR_MS), fc.nat(100_000)), { minLength: 1, maxLength: 40 }),
        fc.record({ strikes: fc.integer({ min: 1, max: 4 }), factor: fc.constantFrom(1, 2, 7), withinMs: fc.constantFrom(1, 30_000, MINUTE_MS), forgiveAfterMs: fc.constantFrom(1_000, MINUTE_MS, HOUR_MS) }),
        async (stepsMs, change) => {
          run += 1;
          const rule = penaltyOf({ ...change, counter: `qp:{t}:p:naive-${run}` });
          const rate: RateCharge = { ...bucketOf(`naive-${run}`, 1, 86_400_000_000_000, 1), limit: 1, windowMs: 9_000_000_000_000, capacity: 1, penalty: rule };
          const naive = new NaivePenalty(rule);
          await judge(rate);
          for (const byMs of stepsMs) {
            place().clock.advance(byMs);
            const { bannedMs, banLevel } = stateOf(await judge(rate));
            expect({ bannedMs: bannedMs ?? 0, banLevel }).toEqual(naive.deny(place().clock.now()));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
