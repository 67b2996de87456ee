import { Injectable } from '@nestjs/common';

/** Resolves when its part can serve; rejects with an Error that says what is missing. */
export type ReadinessCheck = () => Promise<void>;

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** A check that has not answered by then counts as failed, in ms. */
const CHECK_DEADLINE_MS = 2_000;

/** What must be true before this process takes traffic. Every room adds its own checks in `onModuleInit`. */
@Injectable()
export class Readiness {
  /** Set once the process was told to end: balancers must look elsewhere before the socket closes (P25). */
  isDraining = false;
  private readonly checks = new Map<string, ReadinessCheck>();

  /** @param name shown in /health/ready, such as `postgres` */
  add(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  async report(): Promise<ReadinessReport> {
    if (this.isDraining) return { ready: false, checks: { process: 'draining' } };
    const results = await Promise.all([...this.checks].map(async ([name, check]): Promise<[string, string]> => [name, await outcomeOf(check)]));
    return { ready: results.every(([, outcome]) => outcome === 'ok'), checks: Object.fromEntries(results) };
  }
}

/** The failure's own text stays in here: a store's message may hold an address. */
async function outcomeOf(check: ReadinessCheck): Promise<string> {
  const deadline = AbortSignal.timeout(CHECK_DEADLINE_MS);
  const late = new Promise<string>((resolve) => deadline.addEventListener('abort', () => resolve('timeout'), { once: true }));
  return Promise.race([check().then(() => 'ok', () => 'failed'), late]);
}
