import { createServer, Socket, connect, type AddressInfo, type Server } from 'node:net';

/** What happens to the bytes of both directions until the next call of set(). */
export type Fault =
  /** Passes everything on. */
  | { kind: 'none' }
  /** Passes each piece on after a delay, order kept; jitterMs adds a random part. */
  | { kind: 'latency'; delayMs: number; jitterMs?: number }
  /** Accepts connections and swallows all bytes; the peer sees silence. Bytes of this time are lost. */
  | { kind: 'hang' }
  /** Resets open connections and every new one (ECONNRESET). */
  | { kind: 'reset' }
  /** Requests reach the store and no reply comes back: the store spends, the caller never learns. */
  | { kind: 'drop-replies' }
  /** Ends the store's side of the connection and leaves the caller's side open: half-open. */
  | { kind: 'half-open' }
  /** Sends the caller FIN and still reads its requests: half-closed. */
  | { kind: 'half-close' }
  /** Passes that many bytes of replies on per connection, then resets it: a reply is cut in two. */
  | { kind: 'drop-after'; bytes: number }
  /** Passes replies on in pieces of that many bytes. */
  | { kind: 'slice'; bytes: number };

interface Pair {
  caller: Socket;
  store: Socket;
  repliedBytes: number;
  /** One line per direction, so that a later, luckier piece never overtakes an earlier one. */
  waiting: { up: Step[]; down: Step[] };
}

interface Step {
  dueAt: number;
  run(): void;
}

/** A TCP proxy in front of one store that misbehaves on command. */
export class FaultProxy {
  private fault: Fault = { kind: 'none' };
  private readonly pairs = new Set<Pair>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
    readonly url: string,
  ) {}

  /** @param targetUrl of the store, such as `redis://127.0.0.1:6379`; `url` is the same with the proxy's port */
  static async start(targetUrl: string): Promise<FaultProxy> {
    const target = new URL(targetUrl);
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const own = new URL(targetUrl);
    own.hostname = '127.0.0.1';
    own.port = String(port);
    const proxy = new FaultProxy(server, port, own.href);
    server.on('connection', (caller) => proxy.open(caller, Number(target.port), target.hostname));
    return proxy;
  }

  /** Takes effect at once on open connections too. */
  set(fault: Fault): void {
    this.fault = fault;
    for (const pair of this.pairs) this.strike(pair);
  }

  /** Resets the connections that are open now and lets new ones through. */
  resetConnections(): void {
    for (const pair of this.pairs) this.close(pair);
  }

  get openConnections(): number {
    return this.pairs.size;
  }

  async stop(): Promise<void> {
    this.resetConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private open(caller: Socket, port: number, host: string): void {
    const store = connect({ port, host, allowHalfOpen: true });
    const pair: Pair = { caller, store, repliedBytes: 0, waiting: { up: [], down: [] } };
    this.pairs.add(pair);
    caller.setNoDelay(true);
    store.setNoDelay(true);
    caller.on('data', (bytes) => this.pass(pair, 'up', bytes));
    store.on('data', (bytes) => this.pass(pair, 'down', bytes));
    caller.on('end', () => store.end());
    store.on('end', () => this.fault.kind !== 'half-open' && this.after(pair, 'down', () => caller.end()));
    for (const socket of [caller, store]) socket.on('error', () => this.close(pair));
    caller.on('close', () => this.close(pair));
    store.on('close', () => this.pairs.has(pair) && this.fault.kind !== 'half-open' && caller.destroySoon());
    this.strike(pair);
  }

  /** What a fault does to a connection as a whole. */
  private strike(pair: Pair): void {
    if (this.fault.kind === 'reset') this.close(pair);
    if (this.fault.kind === 'half-open') pair.store.end();
    if (this.fault.kind === 'half-close') pair.caller.end();
  }

  private pass(pair: Pair, way: 'up' | 'down', bytes: Buffer): void {
    const { fault } = this;
    const to = way === 'up' ? pair.store : pair.caller;
    if (fault.kind === 'hang' || fault.kind === 'half-open') return;
    if (way === 'up' || fault.kind === 'none') return this.after(pair, way, () => write(to, bytes));
    if (fault.kind === 'drop-replies' || fault.kind === 'half-close') return;
    if (fault.kind === 'slice') {
      for (let from = 0; from < bytes.length; from += fault.bytes) {
        const piece = bytes.subarray(from, from + fault.bytes);
        // A millisecond apart, or the system would join the pieces again.
        this.after(pair, way, () => write(to, piece), from / fault.bytes);
      }
      return;
    }
    if (fault.kind !== 'drop-after') return this.after(pair, way, () => write(to, bytes));
    const left = fault.bytes - pair.repliedBytes;
    pair.repliedBytes += bytes.length;
    // In line with what an earlier fault still holds back, or replies would swap.
    if (bytes.length < left) return this.after(pair, way, () => write(to, bytes));
    this.after(pair, way, () => to.write(bytes.subarray(0, Math.max(0, left)), () => this.close(pair)));
  }

  /** Runs the step after the delay and after all earlier steps of this direction; at once when there is nothing to wait for. */
  private after(pair: Pair, way: 'up' | 'down', run: () => void, extraMs = 0): void {
    const delayMs = this.fault.kind === 'latency' ? this.fault.delayMs + Math.random() * (this.fault.jitterMs ?? 0) : 0;
    const line = pair.waiting[way];
    line.push({ dueAt: performance.now() + delayMs + extraMs, run });
    if (line.length === 1) runDueSteps(line);
  }

  private close(pair: Pair): void {
    if (!this.pairs.delete(pair)) return;
    pair.caller.resetAndDestroy();
    pair.store.destroy();
  }
}

function runDueSteps(line: Step[]): void {
  for (let next = line[0]; next; next = line[0]) {
    const waitMs = next.dueAt - performance.now();
    if (waitMs > 0) {
      setTimeout(runDueSteps, Math.ceil(waitMs), line);
      return;
    }
    next.run();
    line.shift();
  }
}

function write(socket: Socket, bytes: Buffer): void {
  if (socket.writable) socket.write(bytes);
}
