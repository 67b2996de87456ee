import { spawn, type ChildProcess } from 'node:child_process';
import type { Load, Slice } from '../child/load';
import type { Order, Reply } from '../child/messages';
import type { ContenderName } from '../contenders/registry';
import type { Scenario } from '../scenario';

/** A contender's process has failed at what it was told: the bench is void. */
export class ContenderProcessError extends Error {
  override readonly name = 'ContenderProcessError';
}

/** A contender in a process of its own, so that each has its own heap and its own compiled code. */
export class RemoteContender {
  private constructor(readonly name: ContenderName, private readonly child: ChildProcess) {}

  /** @param program URL of this very bench's module */
  static async start(name: ContenderName, { program, redisUrl }: { readonly program: string; readonly redisUrl: string }): Promise<RemoteContender> {
    const node = ['--input-type=module', '-e', `await import(${JSON.stringify(program)})`, '--', 'contender', name, redisUrl];
    const child = spawn(process.execPath, node, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const contender = new RemoteContender(name, child);
    await contender.reply('ready');
    return contender;
  }

  async load(scenario: Scenario, load: Load): Promise<Slice> {
    return (await this.ask({ kind: 'load', scenario, ...load }, 'slice')).slice;
  }

  /** How many of the subjects were admitted, each asked about once. */
  async touch(scenario: Scenario, subjects: number): Promise<number> {
    return (await this.ask({ kind: 'touch', scenario, subjects }, 'admitted')).admitted[0] ?? 0;
  }

  async burst(scenario: Scenario, burst: { readonly from: number; readonly subjects: number; readonly times: number }): Promise<readonly number[]> {
    return (await this.ask({ kind: 'burst', scenario, ...burst }, 'admitted')).admitted;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || !this.child.connected) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.send({ kind: 'close' } satisfies Order);
    await ended;
  }

  private ask<Kind extends Reply['kind']>(order: Order, kind: Kind): Promise<Extract<Reply, { kind: Kind }>> {
    const reply = this.reply(kind);
    this.child.send(order);
    return reply;
  }

  private reply<Kind extends Reply['kind']>(kind: Kind): Promise<Extract<Reply, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new ContenderProcessError(`${this.name} has ended with ${code ?? 'a signal'}`));
      this.child.once('exit', ended);
      this.child.once('message', (reply: Reply) => {
        this.child.off('exit', ended);
        if (isOf(reply, kind)) resolve(reply);
        else reject(new ContenderProcessError(`${this.name}: ${reply.kind === 'fault' ? reply.detail : `answered ${reply.kind}, not ${kind}`}`));
      });
    });
  }
}

const isOf = <Kind extends Reply['kind']>(reply: Reply, kind: Kind): reply is Extract<Reply, { kind: Kind }> => reply.kind === kind;
