import { startRedis, type TestRedis } from '@quotaplane/testing';
import { call, type Answer, type CallOptions } from './http-call';
import { startEcho, startPlatform, type Echo, type Platform } from './platform';

/** The product on a Redis that a spec may kill, with a second echo process. */
export interface OutagePlatform {
  readonly platform: Platform;
  readonly redis: TestRedis;
  readonly other: Echo;
  readonly urls: readonly [string, string];
  /** Both echo logs so far. */
  logs(): Promise<string>;
  stop(): Promise<void>;
}

export async function startOutagePlatform(): Promise<OutagePlatform> {
  const redis = await startRedis();
  const started: (() => Promise<unknown>)[] = [() => redis.stop()];
  const stop = async (): Promise<void> => {
    for (const end of started.reverse()) await end();
  };
  try {
    const platform = await startPlatform({ REDIS_URL: redis.url });
    started.push(() => platform.stop());
    const other = await startEcho({ REDIS_URL: redis.url, QUOTAPLANE_DATA_DIR: platform.dataDir });
    started.push(() => other.stop());
    return { platform, redis, other, urls: [platform.echoUrl, other.url], logs: async () => `${await platform.echoLog()}\n${await other.log()}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Callers who never stop: each makes its next call a moment after the last one was answered. */
export class SteadyLoad {
  readonly answers: Answer[] = [];
  readonly errors: unknown[] = [];
  private isOver = false;
  private readonly lanes: Promise<void>[];

  constructor(callers: number, send: (index: number) => { url: string; options: CallOptions }, heard: (answer: Answer) => void) {
    let next = 0;
    const lane = async (): Promise<void> => {
      while (!this.isOver) {
        const { url, options } = send(next++);
        await call(url, options).then((answer) => {
          this.answers.push(answer);
          heard(answer);
        }, (error: unknown) => this.errors.push(error));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    this.lanes = Array.from({ length: callers }, lane);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes);
  }
}

/** Leaves the processors room: it is waiting that is measured here, not throughput. */
const PAUSE_MS = 10;
