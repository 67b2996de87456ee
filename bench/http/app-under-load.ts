import { AppProcess } from './app-process';
import { ALLOWANCE, FEW, USER_HEADER } from './apps/rules';
import type { AppOrder } from './apps/serve';
import { load, type LoadFigures } from './load';

export interface Slice {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A contender answered wrongly: what it is measured at says nothing. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError';
}

const CONNECTIONS = 64;
const USERS = 10_000;
/** Users past the limit of the small route. */
const DENIED_USERS = ['denied-1', 'denied-2', 'denied-3', 'denied-4', 'denied-5', 'denied-6', 'denied-7', 'denied-8'];
const AT_ONCE = 150;
const WARM_UP_MS = 500;
/** Calls that our guard may decide without the store, within its deadline of 25 ms on a busy machine: a run with more of them measures something else. */
const FALLBACKS_MAX = 0.02;

/** One app, the calls that are sent to it, and what it has answered so far. */
export class AppUnderLoad {
  private readonly plain: readonly Buffer[];
  private readonly denied: readonly Buffer[];
  private admitted = 0;
  private answered = 0;

  private constructor(private readonly process: AppProcess, private readonly order: AppOrder & { readonly tenant: string }) {
    this.plain = Array.from({ length: USERS }, (_, index) => this.request('/plain', `user-${index}`));
    this.denied = DENIED_USERS.map((user) => this.request('/few', user));
  }

  static async start(order: AppOrder & { readonly tenant: string }): Promise<AppUnderLoad> {
    return new AppUnderLoad(await AppProcess.start(order), order);
  }

  /** Sends calls of 64 connections for a while. @param isDenied those of callers who are past their limit */
  async slice(isDenied: boolean, forMs: number): Promise<Slice> {
    const before = await this.process.usage();
    const figures = await this.send(isDenied ? this.denied : this.plain, { connections: CONNECTIONS, forMs });
    const after = await this.process.usage();
    const total = sum(figures.answers.values());
    const strays = total - (figures.answers.get(isDenied ? 429 : 200) ?? 0);
    // A bucket refills, and this node's share admits for itself what the store does not answer in time.
    const strayMax = isDenied ? DENIED_USERS.length + after.fallbacks - before.fallbacks : 0;
    if (strays > strayMax) throw this.wrong(`answered ${textOf(figures)} where all had to be ${isDenied ? 'denied' : 'admitted'}`);
    const { perSecond, p50Ms, p99Ms } = figures;
    return { perSecond, p50Ms, p99Ms, cpuMicros: (after.cpuMicros - before.cpuMicros) / total };
  }

  /** Of 150 calls at once exactly the limit passes, for each user who is denied later on. */
  async assertExact(): Promise<void> {
    if (this.order.contender === 'unguarded' || this.order.contender === 'idle') return;
    // The first calls of a process are slow, and a call that the store does not answer in time is decided without it.
    await this.send(this.plain, { connections: CONNECTIONS, forMs: WARM_UP_MS });
    for (const user of DENIED_USERS) await this.assertExactFor(user);
    const { sample } = await this.send(this.denied.slice(0, 1), { connections: 1, forMs: 10_000, atMost: 1 });
    const fields = this.order.contender === 'ours' ? OWN_FIELDS : /\r\nretry-after: /i;
    if (!fields.test(sample)) throw this.wrong(`denied without the fields: ${sample}`);
  }

  private async assertExactFor(user: string): Promise<void> {
    const before = await this.process.usage();
    const figures = await this.send([this.request('/few', user)], { connections: AT_ONCE, forMs: 10_000, atMost: AT_ONCE });
    const { fallbacks } = await this.process.usage();
    const admitted = figures.answers.get(200) ?? 0;
    const denied = figures.answers.get(429) ?? 0;
    if (admitted >= FEW && admitted <= FEW + fallbacks - before.fallbacks && admitted + denied === AT_ONCE) return;
    throw this.wrong(`answered ${textOf(figures)} to ${AT_ONCE} calls at a limit of ${FEW}, ${fallbacks - before.fallbacks} of them without the store`);
  }

  /** Our quota has counted each admitted call once, and no other. @returns the part of all calls that was decided without the store */
  async assertCounted(): Promise<number> {
    const { sample } = await this.send(this.plain, { connections: 1, forMs: 10_000, atMost: 1 });
    const { fallbacks } = await this.process.usage();
    if (fallbacks > this.answered * FALLBACKS_MAX) throw this.wrong(`decided ${fallbacks} of ${this.answered} calls without the store: this machine is too busy to measure on`);
    const counted = ALLOWANCE - Number(/"month";r=(\d+)/.exec(sample)?.[1]);
    // What was decided without the store is in the journal alone.
    if (counted > this.admitted || counted < this.admitted - fallbacks) throw this.wrong(`counted ${counted} of ${this.admitted} admitted calls`);
    return fallbacks / this.answered;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  private async send(requests: readonly Buffer[], how: { readonly connections: number; readonly forMs: number; readonly atMost?: number }): Promise<LoadFigures> {
    const figures = await load({ port: this.process.port, requests, ...how });
    this.admitted += figures.answers.get(200) ?? 0;
    this.answered += sum(figures.answers.values());
    return figures;
  }

  private request(path: string, user: string): Buffer {
    return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: demo-${this.order.tenant}\r\n${USER_HEADER}: ${this.order.framework}-${user}\r\n\r\n`);
  }

  private wrong(what: string): WrongAnswerError {
    return new WrongAnswerError(`${this.order.contender} on ${this.order.framework} ${what}`);
  }
}

const OWN_FIELDS = /(?=.*\r\nRateLimit-Policy: "per-minute")(?=.*\r\nRateLimit: "few";r=0)(?=.*\r\nRetry-After: \d+\r\n)(?=.*\r\nCache-Control: no-store\r\n)(?=.*application\/problem\+json)/is;

const sum = (figures: Iterable<number>): number => [...figures].reduce((total, one) => total + one, 0);
const textOf = ({ answers }: LoadFigures): string => [...answers].map(([status, count]) => `${count} x ${status}`).join(', ');
