import { call, headerOf, type Answer } from './http-call';

/** How many answers named a degraded source. */
export const degradedAnswers = (answers: readonly Answer[]): Answer[] => answers.filter((answer) => headerOf(answer, 'RateLimit-Source') !== '');

/** Decisions of the early hook are another class: the guard's own, later on the same request, writes its fields over theirs. */
const EARLY = 'early';

/** Sum of a counter over its series at these processes, those of the early hook left out. */
export async function metricTotal(urls: readonly string[], name: string): Promise<number> {
  let total = 0;
  for (const url of urls) {
    const { body } = await call(`${url}/metrics`);
    for (const line of body.split('\n')) if (line.startsWith(`${name}{`) && !line.includes(`class="${EARLY}"`)) total += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return total;
}

/** Decisions without the store that a process has written to its log: each line carries how many it stands for. */
export function loggedTotal(log: string): number {
  let total = 0;
  for (const [, count, endpointClass] of log.matchAll(/decided without the store: count=(\d+) class=(\S+) /g)) if (endpointClass !== EARLY) total += Number(count);
  return total;
}
