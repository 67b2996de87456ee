import { randomUUID } from 'node:crypto';
import { redisKeys, type Heartbeat } from '@quotaplane/contracts';
import { quotaKeys, readQuotas, type QuotaName } from '@quotaplane/rate-limit';
import { Journal, type JournalCell } from '@quotaplane/usage';
import type { Redis } from 'ioredis';

export const cellOf = (name: QuotaName, className = 'default'): JournalCell => ({ ...name, class: className });

/** What the check script would hold against the allowance. */
export async function enforcedUse(redis: Redis, name: QuotaName): Promise<number> {
  const [quota] = await readQuotas(redis, [name]);
  return Number((quota?.counter ?? 0n) + (quota?.plus ?? 0n) - (quota?.minus ?? 0n));
}

/** For specs: the two writes of a guard's node, its counter and its journal, each when the spec says so. */
export class SpecNode {
  readonly incarnation = randomUUID();
  readonly journal: Journal;

  constructor(private readonly redis: Redis, private readonly storeNow: () => number = Date.now) {
    this.journal = new Journal({ redis, incarnation: this.incarnation, service: 'spec', storeNow });
  }

  async admit(name: QuotaName, units: number): Promise<void> {
    await this.count(name, units);
    this.journal.admit(cellOf(name), units);
  }

  /** In the counter alone, as by a node that dies before its journal is written. */
  async count(name: QuotaName, units: number): Promise<void> {
    await this.redis.incrby(quotaKeys(name).counter, units);
  }

  async refund(name: QuotaName, units: number): Promise<void> {
    await this.redis.decrby(quotaKeys(name).counter, units);
    this.journal.refund(cellOf(name), units);
  }

  /** A word of its own, `agoMs` old. */
  async beat(agoMs = 0): Promise<void> {
    const seenAtMs = this.storeNow() - agoMs;
    const beat: Heartbeat = {
      incarnation: this.incarnation, service: 'spec', kind: 'service', version: '0', host: 'spec', pid: 1, startedAtMs: seenAtMs, seenAtMs,
      position: '0-0', appliedAtMs: seenAtMs, mode: 'healthy',
    };
    await this.redis.hset(redisKeys.nodes, this.incarnation, JSON.stringify(beat));
  }
}
