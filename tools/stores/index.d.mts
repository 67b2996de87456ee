// Hand-written types of the plain JavaScript beside this file, for the specs' TypeScript.
import type { ChildProcess } from 'node:child_process';

export interface StoreServer {
  url: string;
  port: number;
  pid: number;
  child: ChildProcess;
  hasExited(): boolean;
  exited: Promise<void>;
  stop(): Promise<void>;
}
export interface RedisServer extends StoreServer {
  kill(signal?: NodeJS.Signals): void;
}
export interface PostgresServer extends StoreServer {
  dataDir: string;
}
export interface RedisOptions {
  port?: number;
  dataDir?: string;
  isDurable?: boolean;
  password?: string;
  config?: string[];
  logFd?: number;
}
export interface PostgresOptions {
  dataDir: string;
  port?: number;
  password?: string;
  isThrowaway?: boolean;
}
export interface Watchdog {
  addApp(pid: number): void;
  addStore(pid: number, signal: NodeJS.Signals): void;
  dismiss(): void;
}

export function startRedisServer(options?: RedisOptions): Promise<RedisServer>;
export function startPostgresServer(options: PostgresOptions): Promise<PostgresServer>;
export function startWatchdog(): Watchdog;
export function findRedisBinary(): Promise<{ command: string; env: NodeJS.ProcessEnv }>;
export function findPostgresBinary(): { bin: string; owner: { uid: number; gid: number } | undefined };
export function reachableFolder(wanted: string, owner: { uid: number; gid: number } | undefined): string;
export function cacheFolder(): string;
export function freePort(): Promise<number>;
export function isPortFree(port: number, host?: string): Promise<boolean>;
export function parsePort(name: string, text: string | undefined, fallback: number): number;
export function withFileLock<T>(path: string, work: () => Promise<T>, deadlineMs?: number): Promise<T>;
export function tryLock(path: string): boolean;
export function unlock(path: string): void;
export function lockHolder(path: string): number | undefined;
export function isAlive(pid: number): boolean;
export function processStamp(pid: number): string;
export function isStampAlive(stamp: string): boolean;
export function stopProcess(pid: number, signal: NodeJS.Signals, deadlineMs: number): Promise<boolean>;
export function unref(server: StoreServer): void;
export const REDIS_MISSING: string;
