export { freePort, startWatchdog } from '../../../tools/stores/index.mjs';
export { FaultProxy, type Fault } from './fault-proxy';
export { startPostgres, type TestPostgres, type TestPostgresOptions } from './postgres';
export { startRedis, type TestRedis, type TestRedisOptions } from './redis';
export { ClusterNotReadyError, startTestRedisCluster, type TestRedisCluster, type TestRedisClusterOptions } from './redis-cluster';
export type { RedisClusterNode } from './redis-cluster-node';
export type { SlotMoves } from './redis-cluster-slots';
export { TestClock } from './test-clock';
export { ready, TEST_STORES, type TestClient, type TestRoad, type TestStore } from './test-stores';
