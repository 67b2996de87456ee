import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface Balancer {
  readonly url: string;
  /** Takes a node out of the turn, or back in. Calls under way go on. */
  set(urls: readonly string[]): void;
  /** Calls that a node left without an answer. */
  readonly failures: number;
  stop(): Promise<void>;
}

/** How often a node is asked for its health. */
const HEALTH_EVERY_MS = 100;

/** Keeps a balancer to the nodes whose `/health` answers 200; answers how to end that. */
export function followHealth(balancer: Balancer, urls: () => readonly string[]): () => void {
  const timer = setInterval(() => {
    void Promise.all(urls().map(async (url) => ((await isHealthy(url)) ? [url] : []))).then((healthy) => {
      const up = healthy.flat();
      if (up.length > 0) balancer.set(up);
    });
  }, HEALTH_EVERY_MS);
  return () => clearInterval(timer);
}

const isHealthy = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    request(`${url}/health`, { timeout: HEALTH_EVERY_MS }, (reply) => {
      reply.resume();
      resolve(reply.statusCode === 200);
    }).once('error', () => resolve(false)).once('timeout', function (this: { destroy(): void }) { this.destroy(); }).end();
  });

/** Hands each request to the next node in turn, as a plain HTTP balancer does; a caller that goes away takes its request with it. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 400 });
  let nodes = [...urls];
  let turn = 0;
  let failures = 0;
  const forward = (incoming: IncomingMessage, answer: ServerResponse): void => {
    const node = nodes[turn++ % nodes.length] ?? '';
    const outgoing = request(new URL(incoming.url ?? '/', node), { method: incoming.method, headers: incoming.headers, agent }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, answer, () => undefined);
    });
    outgoing.once('error', () => {
      if (answer.destroyed) return;
      failures += 1;
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end();
    });
    answer.once('close', () => {
      if (!answer.writableFinished) outgoing.destroy();
    });
    pipeline(incoming, outgoing, () => undefined);
  };
  // Longer than any spec leaves a connection idle: one that is closed just when a call takes it looks like a dropped call.
  const server = createServer({ keepAliveTimeout: 300_000 }, forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (next) => {
      nodes = [...next];
    },
    get failures() {
      return failures;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}
