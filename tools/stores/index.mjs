// The stores that start and the specs run: embedded Postgres and Redis without Docker.
export { lockHolder, tryLock, unlock, withFileLock } from './file-lock.mjs';
export { freePort, isPortFree, parsePort } from './ports.mjs';
export { reachableFolder, findPostgresBinary } from './postgres-binary.mjs';
export { startPostgresServer } from './postgres.mjs';
export { cacheFolder, findRedisBinary, REDIS_MISSING } from './redis-binary.mjs';
export { startRedisServer } from './redis.mjs';
export { commandLine, isAlive, isStampAlive, processStamp, signalQuietly, spawnServer, stopProcess, unref } from './server-process.mjs';
export { startWatchdog } from './watchdog.mjs';
