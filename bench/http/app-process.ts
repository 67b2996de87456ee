import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { APP, type AppOrder, type AppWord } from './apps/serve';

export interface AppUsage {
  readonly cpuMicros: number;
  readonly fallbacks: number;
}

/** One app in a process of its own. */
export class AppProcess {
  private constructor(private readonly child: ChildProcess, private readonly gone: Promise<unknown[]>, readonly port: number) {}

  /** @param order.flags of Node, such as `--cpu-prof` */
  static async start({ flags = [], ...order }: AppOrder & { readonly flags?: readonly string[] }): Promise<AppProcess> {
    // Imported, not run: the bundle asks whether it is the program.
    const script = `await import(${JSON.stringify(import.meta.url)})`;
    const env = { ...process.env, [APP]: JSON.stringify(order), NODE_ENV: 'production' };
    const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', script], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const gone = once(child, 'exit');
    const [word] = (await Promise.race([once(child, 'message'), gone])) as [AppWord | number | null];
    if (typeof word !== 'object' || word === null || !('port' in word)) throw new TypeError(`${order.contender} on ${order.framework} did not start`);
    return new AppProcess(child, gone, word.port);
  }

  async usage(): Promise<AppUsage> {
    const answer = Promise.race([once(this.child, 'message'), this.gone]);
    this.child.send('usage');
    const [word] = (await answer) as [AppUsage | number | null];
    if (typeof word !== 'object' || word === null) throw new TypeError('an app ended while it was measured');
    return word;
  }

  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.gone;
  }
}
