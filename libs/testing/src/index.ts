export { freePort, startWatchdog } from '../../../tools/stores/index.mjs';
export { FaultProxy, type Fault } from './fault-proxy';
export { startPostgres, type TestPostgres, type TestPostgresOptions } from './postgres';
export { startRedis, type TestRedis, type TestRedisOptions } from './redis';
export { TestClock } from './test-clock';
