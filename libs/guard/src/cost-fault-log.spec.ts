import { expect, it } from 'vitest';
import { CostFaultLog } from './cost-fault-log';

it('writes one line per class and minute, each with the number of faults it stands for', () => {
  const clock = { ms: 0 };
  const counts: string[] = [];
  const log = new CostFaultLog((line) => counts.push(line.replace(/^.*class (\w+):.*count=(\d+)$/, '$1 $2')), () => clock.ms);
  for (const name of ['report', 'report', 'bulk', 'report']) log.record(name, 'NaN');
  clock.ms = 59_999;
  log.record('report', 'NaN');
  expect(counts).toEqual(['report 1', 'bulk 1']);
  clock.ms = 60_000;
  log.record('report', 'NaN');
  expect(counts).toEqual(['report 1', 'bulk 1', 'report 4']);
});
