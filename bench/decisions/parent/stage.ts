import { startRedis } from '@quotaplane/testing';
import type { ContenderName } from '../contenders/registry';
import type { Scenario } from '../scenario';
import { openWorld, type World } from '../world';
import { RedisMeter } from './redis-meter';
import { RemoteContender } from './remote-contender';

/** How long everything is measured. */
export interface Pace {
  readonly rounds: number;
  readonly sliceMs: number;
  /** Before a contender is measured for the first time, and before each further comparison. */
  readonly warmUpMs: number;
  readonly againMs: number;
}

/** A slice lasts as long as the time between two writes of our journal, so that each holds one. */
export const FULL: Pace = { rounds: 5, sliceMs: 1_000, warmUpMs: 2_500, againMs: 300 };
/** For a first look: half a write of the journal in each slice, and little warmth. */
export const QUICK: Pace = { rounds: 2, sliceMs: 500, warmUpMs: 800, againMs: 200 };

/** One local Redis without persistence, the bench's tenants in it, and the contenders' processes. */
export class Stage {
  private readonly contenders = new Map<ContenderName, Promise<RemoteContender>>();
  private readonly further: RemoteContender[] = [];
  private readonly touched = new Set<string>();
  private readonly warm = new Set<ContenderName>();

  private constructor(
    readonly pace: Pace,
    readonly meter: RedisMeter,
    readonly world: World,
    private readonly place: { readonly program: string; readonly redisUrl: string; readonly stop: () => Promise<void> },
  ) {}

  static async open(program: string, pace: Pace): Promise<Stage> {
    const redis = await startRedis();
    const world = await openWorld(redis.url);
    return new Stage(pace, new RedisMeter(redis.url), world, { program, redisUrl: redis.url, stop: () => redis.stop() });
  }

  /** The process of that contender, started when it is first asked for. */
  contender(name: ContenderName): Promise<RemoteContender> {
    const known = this.contenders.get(name);
    if (known !== undefined) return known;
    const started = RemoteContender.start(name, this.place);
    this.contenders.set(name, started);
    return started;
  }

  /** Whether it was asked before, which makes it so. */
  isWarm(name: ContenderName): boolean {
    if (this.warm.has(name)) return true;
    this.warm.add(name);
    return false;
  }

  /** Once in a run each subject is asked about before anything is measured: policies are loaded then, and keys made. */
  async touchOnce(name: ContenderName, scenario: Scenario, subjects: number): Promise<void> {
    const id = `${name}/${scenario}/${subjects}`;
    if (this.touched.has(id)) return;
    this.touched.add(id);
    await (await this.contender(name)).touch(scenario, subjects);
  }

  /** So many processes of one contender, the one that is known among them. */
  async several(name: ContenderName, count: number): Promise<RemoteContender[]> {
    while (this.further.length < count - 1) this.further.push(await RemoteContender.start(name, this.place));
    return [await this.contender(name), ...this.further.slice(0, count - 1)];
  }

  async close(): Promise<void> {
    const contenders = [...(await Promise.all(this.contenders.values())), ...this.further];
    await Promise.allSettled(contenders.map((contender) => contender.close()));
    this.meter.close();
    this.world.close();
    await this.place.stop();
  }
}
