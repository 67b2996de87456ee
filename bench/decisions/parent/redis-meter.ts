import { Redis } from 'ioredis';

/** Reads what the bench's Redis says of itself. */
export class RedisMeter {
  private readonly redis: Redis;

  constructor(redisUrl: string) {
    this.redis = new Redis(redisUrl);
  }

  /** CPU time of the server so far, microseconds of user and system. */
  async cpuMicros(): Promise<number> {
    const text = await this.redis.info('cpu');
    return (numberOf(text, 'used_cpu_user') + numberOf(text, 'used_cpu_sys')) * 1_000_000;
  }

  async usedBytes(): Promise<number> {
    return numberOf(await this.redis.info('memory'), 'used_memory');
  }

  async version(): Promise<string> {
    return /^redis_version:(\S+)/m.exec(await this.redis.info('server'))?.[1] ?? 'unknown';
  }

  close(): void {
    this.redis.disconnect();
  }
}

const numberOf = (text: string, field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0);
