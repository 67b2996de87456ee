import { cpus, totalmem } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  readonly redis: string;
  readonly measuredAt: string;
}

export function machineWith(redis: string): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown', cores: cores.length, memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node, redis, measuredAt: new Date().toISOString().slice(0, 16),
  };
}
