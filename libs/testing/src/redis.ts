import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer, startWatchdog, type RedisServer } from '../../../tools/stores/index.mjs';

export interface TestRedisOptions {
  /** Further lines of redis.conf, such as `maxmemory 2mb` or `cluster-enabled yes`. */
  config?: string[];
  /** A chosen port; a free one when left out. */
  port?: number;
}

export interface TestRedis {
  url: string;
  port: number;
  /** Changes with each restart. */
  readonly pid: number;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
  /** Signals the server and, for a signal that ends it, waits until it is gone. SIGKILL when left out. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port with its data, or with none: a Redis that lost its memory. Also after kill(). */
  restart(options?: { empty?: boolean }): Promise<void>;
  /** Freezes the server: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
}

/** Starts a real Redis for one spec file, in about 20 ms. It dies with the process that started it. */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quotaplane-redis-'));
  const files = { dataDir, config: options.config ?? [] };
  let server = await guarded(await startRedisServer({ ...files, ...(options.port ? { port: options.port } : {}) }));
  const { port, url } = server;

  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    server.kill(signal);
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await server.exited;
  };
  return {
    url,
    port,
    get pid() {
      return server.pid;
    },
    kill,
    pause: () => server.kill('SIGSTOP'),
    resume: () => server.kill('SIGCONT'),
    restart: async ({ empty = false } = {}) => {
      await end(server, empty ? 'SHUTDOWN NOSAVE' : 'SHUTDOWN SAVE');
      if (empty) await rm(join(dataDir, 'dump.rdb'), { force: true });
      server = await guarded(await startRedisServer({ ...files, port }));
    },
    stop: async () => {
      if (!server.hasExited()) await kill();
      server.dismiss();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

type GuardedServer = RedisServer & { dismiss: () => void };

async function guarded(server: RedisServer): Promise<GuardedServer> {
  const watchdog = startWatchdog();
  watchdog.addStore(server.pid, 'SIGKILL');
  return { ...server, dismiss: watchdog.dismiss };
}

async function end(server: GuardedServer, command: string): Promise<void> {
  if (!server.hasExited()) {
    // A frozen server would hear neither the command nor the end of the connection.
    server.kill('SIGCONT');
    const socket = createConnection({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.end(`${command}\r\n`);
    await server.exited;
  }
  server.dismiss();
}
