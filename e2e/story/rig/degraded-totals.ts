import { call, headerOf, type Answer } from './http-call';

/** How many answers named a degraded source. */
export const degradedAnswers = (answers: readonly Answer[]): Answer[] => answers.filter((answer) => headerOf(answer, 'RateLimit-Source') !== '');

/** Sum of a counter over all its series at these processes. */
export async function metricTotal(urls: readonly string[], name: string): Promise<number> {
  let total = 0;
  for (const url of urls) {
    const { body } = await call(`${url}/metrics`);
    for (const line of body.split('\n')) if (line.startsWith(`${name}{`)) total += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return total;
}

/** Decisions without the store that a process has written to its log: each line carries how many it stands for. */
export function loggedTotal(log: string): number {
  let total = 0;
  for (const [, count] of log.matchAll(/decided without the store: count=(\d+) /g)) total += Number(count);
  return total;
}
