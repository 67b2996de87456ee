import { ContenderError, type Ask, type Contender } from '../contenders/contender';
import { CONTENDERS, type ContenderName } from '../contenders/registry';
import type { Scenario } from '../scenario';
import { burst, load, touch } from './load';
import type { Order, Reply } from './messages';

/** Runs one contender for the parent, which tells over IPC what to do, until it is told to close or the parent is gone. */
export async function serveContender(name: string, redisUrl: string): Promise<void> {
  if (!isContender(name)) throw new ContenderError(`there is no contender ${name}`);
  const contender = await CONTENDERS[name](redisUrl);
  process.on('disconnect', () => process.exit(1));
  process.on('message', (order: Order) => {
    obey(contender, order).then(tell, (error: unknown) => tell({ kind: 'fault', detail: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }));
  });
  tell({ kind: 'ready' });
}

async function obey(contender: Contender, order: Order): Promise<Reply> {
  if (order.kind === 'close') {
    await contender.close();
    // Answered by the end itself.
    process.exit(0);
  }
  const ask = askOf(contender, order.scenario);
  if (order.kind === 'touch') return { kind: 'admitted', admitted: [await touch(ask, order.subjects)] };
  if (order.kind === 'burst') return { kind: 'admitted', admitted: await burst(ask, order) };
  return { kind: 'slice', slice: await load(ask, order) };
}

function askOf(contender: Contender, scenario: Scenario): Ask {
  const ask = contender.asks[scenario];
  if (ask === undefined) throw new ContenderError(`it cannot be asked about ${scenario}`);
  return ask;
}

const isContender = (name: string): name is ContenderName => name in CONTENDERS;
const tell = (reply: Reply): void => void process.send?.(reply);
