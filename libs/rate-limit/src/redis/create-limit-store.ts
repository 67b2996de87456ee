import { Cluster } from 'ioredis';
import type { LimitStore } from '../store';
import { ClusterLimitStore } from './cluster-limit-store';
import type { LimitRedis } from './connect-limit-redis';
import { RedisLimitStore } from './redis-limit-store';
import type { LimitStoreOptions } from './store-options';

/** The store for what `connectLimitRedis` connected: one Redis, or a cluster of them. @throws {InvalidStoreOptionError} */
export const createLimitStore = (redis: LimitRedis, options: LimitStoreOptions = {}): LimitStore =>
  redis instanceof Cluster ? new ClusterLimitStore({ redis, ...options }) : new RedisLimitStore({ redis, ...options });
