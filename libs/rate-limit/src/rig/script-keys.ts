import { Socket } from 'node:net';
import type { Command } from 'ioredis';

/** Keys that a script call names on the wire, however it was made; nothing for other commands. For specs. */
export const scriptKeysOf = (command: Command): string[] => {
  const wire = String(command.toWritable(new Socket()));
  const args = [...wire.matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, arg = '']) => arg);
  return /^eval/i.test(command.name) ? args.slice(3, 3 + Number(args[2])) : [];
};
