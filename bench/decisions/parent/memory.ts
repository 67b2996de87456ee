import { BASE, OURS, type ContenderName } from '../contenders/registry';
import { Stage, type Pace } from './stage';

const KEYS = 100_000;

export interface Memory {
  readonly oursBytes: number;
  readonly baseBytes: number;
}

/** Bytes of Redis per key, over 100,000 of them; each contender on a Redis of its own, so that the tables of both grow from and to the same size. */
export async function measureMemory(program: string, pace: Pace): Promise<Memory> {
  const bytesOf = async (name: ContenderName): Promise<number> => {
    const stage = await Stage.open(program, pace);
    try {
      const contender = await stage.contender(name);
      // Connections, scripts and the first write of the journal are not what a key costs.
      await contender.touch('users', 1);
      const before = await stage.meter.usedBytes();
      await contender.touch('users', KEYS);
      return ((await stage.meter.usedBytes()) - before) / KEYS;
    } finally {
      await stage.close();
    }
  };
  return { oursBytes: await bytesOf(OURS), baseBytes: await bytesOf(BASE) };
}
