import { Inject, Injectable } from '@nestjs/common';
import { automaticPenaltySchema, DomainError, redisKeys, scope, slug, type AutomaticPenalty, type Scope } from '@quotaplane/contracts';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { REDIS } from '../database/redis';

/** A ban that a limit's own penalty set, as guards wrote it down. */
export interface AutomaticBan extends AutomaticPenalty {
  readonly id: string;
  readonly field: string;
  readonly tenant: string;
  readonly limit: string;
  readonly scope: Scope;
  readonly subject: string;
}

/** Most bans read for a list; past it the rest is found with `?tenant=`. */
export const AUTOMATIC_MAX = 10_000;
const SCAN_COUNT = 1_000;
const ID_PREFIX = 'auto-';
const fieldShape = z.tuple([slug, z.string(), scope, z.string()]);
/** Guards write the hash, so that it must not talk the control plane into deleting anything but a penalty's counter. */
const PENALTY_KEY = /^qp:\{[^{}]+\}:p:/;

const idOf = (field: string): string => ID_PREFIX + Buffer.from(field, 'utf8').toString('base64url');

/** Reads and lifts the bans in `qp:penalties`. Rejects with store_unavailable while Redis is away. */
@Injectable()
export class AutomaticPenalties {
  constructor(@Inject(REDIS) private readonly redis: Redis) {}

  static isId(id: string): boolean {
    return id.startsWith(ID_PREFIX);
  }

  /** Bans that run by the store's clock, newest first; of one tenant where it is named. */
  async running(tenant: string | undefined): Promise<AutomaticBan[]> {
    return this.reach(async () => {
      const nowMs = await this.storeNowMs();
      const found = new Map<string, AutomaticBan>();
      for await (const [field, text] of this.scan(tenant === undefined ? '*' : `\\["${tenant}",*`)) {
        const ban = parseBan(field, text);
        if (ban && ban.untilMs > nowMs) found.set(field, ban);
        if (found.size >= AUTOMATIC_MAX) break;
      }
      return [...found.values()].sort((a, b) => b.startedMs - a.startedMs || (a.id < b.id ? -1 : 1));
    });
  }

  /** Undefined where there is none, or it has ended. */
  async find(id: string): Promise<AutomaticBan | undefined> {
    const field = Buffer.from(id.slice(ID_PREFIX.length), 'base64url').toString('utf8');
    return this.reach(async () => {
      const [nowMs, text] = await Promise.all([this.storeNowMs(), this.redis.hget(redisKeys.penalties, field)]);
      const ban = text === null ? undefined : parseBan(field, text);
      return ban && ban.id === id && ban.untilMs > nowMs ? ban : undefined;
    });
  }

  /** Strikes and level are forgotten with the ban. Repeating it is harmless. */
  async lift({ counter, field }: AutomaticBan): Promise<void> {
    await this.reach(async () => {
      if (PENALTY_KEY.test(counter)) await this.redis.del(counter);
      await this.redis.hdel(redisKeys.penalties, field);
    });
  }

  /** Drops bans that have ended, and what is no ban. @returns how many */
  async dropEnded(): Promise<number> {
    const nowMs = await this.storeNowMs();
    let dropped = 0;
    for await (const [field, text] of this.scan('*')) {
      const ban = parseBan(field, text);
      if (ban && ban.untilMs > nowMs) continue;
      const replies = await this.redis.multi().hget(redisKeys.penalties, field).hdel(redisKeys.penalties, field).exec();
      const taken = replies?.[0]?.[1];
      // A guard has written a new ban between the look and the drop: it goes back unless there is a newer one.
      if (typeof taken === 'string' && taken !== text) await this.redis.hsetnx(redisKeys.penalties, field, taken);
      else dropped += 1;
    }
    return dropped;
  }

  private async *scan(match: string): AsyncGenerator<readonly [field: string, text: string]> {
    let cursor = '0';
    do {
      const [next, entries] = await this.redis.hscan(redisKeys.penalties, cursor, 'MATCH', match, 'COUNT', SCAN_COUNT);
      for (let index = 0; index + 1 < entries.length; index += 2) yield [entries[index] ?? '', entries[index + 1] ?? ''];
      cursor = next;
    } while (cursor !== '0');
  }

  private async storeNowMs(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  private async reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw new DomainError('store_unavailable', 'Redis, which keeps automatic penalties, does not answer; try again shortly', {}, { cause });
    }
  }
}

/** Longest instant that has an ISO form. */
const LATEST_MS = 8_640_000_000_000_000;

function parseBan(field: string, text: string): AutomaticBan | undefined {
  try {
    const [tenant, limit, scopeName, subject] = fieldShape.parse(JSON.parse(field));
    const penalty = automaticPenaltySchema.parse(JSON.parse(text));
    if (Math.max(penalty.untilMs, penalty.startedMs) > LATEST_MS) return undefined;
    return { ...penalty, id: idOf(field), field, tenant, limit, scope: scopeName, subject };
  } catch {
    return undefined;
  }
}
