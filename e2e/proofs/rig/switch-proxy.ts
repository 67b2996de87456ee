import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A name that points at one store and then at another, as a failover moves it; connections of before are cut. */
export class SwitchProxy {
  private readonly open = new Set<Socket>();
  private port: number;

  private constructor(private readonly server: Server, port: number) {
    this.port = port;
    server.on('connection', (caller) => this.join(caller));
  }

  static async start(port: number): Promise<SwitchProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new SwitchProxy(server, port);
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  pointAt(port: number): void {
    this.port = port;
    for (const socket of this.open) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(caller: Socket): void {
    const store = connect({ port: this.port, host: '127.0.0.1' });
    for (const [from, to] of [[caller, store], [store, caller]] as const) {
      this.open.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => undefined);
      from.once('close', () => {
        this.open.delete(from);
        to.destroy();
      });
    }
  }
}
