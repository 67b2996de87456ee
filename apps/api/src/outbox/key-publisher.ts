import { Inject, Injectable } from '@nestjs/common';
import { PolicyPublisher } from '@quotaplane/policy';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { lockKeys } from './outbox-sql';

/** Publishes what API keys stand for. The rows stay locked until Redis has them, so that an older state never lands on a revocation. */
@Injectable()
export class KeyPublisher {
  private readonly publisher: PolicyPublisher;

  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(REDIS) redis: Redis) {
    this.publisher = new PolicyPublisher({ redis });
  }

  /**
   * @param hashes SHA-256 of secrets; unknown ones get a tombstone of 60 s where there is no entry
   * @returns feed id by hash, of known keys only
   */
  publish(hashes: readonly string[], changeId = ''): Promise<ReadonlyMap<string, string>> {
    return this.prisma.transaction(async (tx) => {
      const keys = await lockKeys(tx, hashes);
      const known = new Set(keys.map(({ hash }) => hash));
      const [published] = await Promise.all([
        Promise.all(keys.map(async ({ hash, id, tenant, userId, kind, isLive }) => {
          const record = isLive ? { tenant, keyId: id, userId, kind } : null;
          const { position } = await this.publisher.publishKey(hash, record, changeId);
          return [hash, position] as const;
        })),
        Promise.all(hashes.filter((hash) => !known.has(hash)).map((hash) => this.publisher.answerUnknownKey(hash))),
      ]);
      return new Map(published);
    }, { timeoutMs: 30_000 });
  }
}
