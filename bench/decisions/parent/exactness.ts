import { setTimeout as sleep } from 'node:timers/promises';
import { CONTENDERS, OURS, type ContenderName } from '../contenders/registry';
import { EXACT_LIMIT, type Scenario } from '../scenario';
import { ContenderProcessError, type RemoteContender } from './remote-contender';
import { WrongAnswerError } from './rounds';
import type { Stage } from './stage';

/** Half as many again as may pass, all at once. */
const TIMES = 150;
const PROCESSES = 4;
const SEVERAL = 5;
const GOES = 5;
const PAUSE_MS = 500;
/** Calls that a process has behind it before it is asked for many at once. */
const WARM_UP = 2_000;
const BARE: readonly ContenderName[] = ['empty EVALSHA', 'empty EVALSHA, auto-pipelined', 'PING'];

export interface Proof {
  readonly what: string;
  /** Of {@link EXACT_LIMIT} each. */
  readonly admitted: readonly number[];
}

/** Subjects are asked about once in a run; what comes next. */
type Next = Record<'exact' | 'allowance', number>;

/**
 * Asks each contender for more than a limit of 100 admits, about one subject and about several mixed; ours over four processes at once too, and for a
 * monthly allowance under four limits.
 * @throws {WrongAnswerError} somebody admitted another number
 */
export async function proveExactness(stage: Stage): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const prove = async (what: string, processes: readonly RemoteContender[], next: Next, scenario: 'exact' | 'allowance'): Promise<void> => {
    for (const subjects of [1, SEVERAL]) {
      const admitted = await askedInTime(processes, scenario, next, subjects);
      const proof = { what: `${what}, ${subjects === 1 ? 'one subject' : `${subjects} subjects mixed`}`, admitted };
      if (admitted.some((count) => count !== EXACT_LIMIT)) throw new WrongAnswerError(`${proof.what}: a limit of ${EXACT_LIMIT} admitted ${admitted.join(', ')}`);
      proofs.push(proof);
    }
  };
  for (const name of Object.keys(CONTENDERS) as ContenderName[]) {
    // The control shares its counters with the base.
    if (BARE.includes(name) || name === 'rate-limiter-flexible (A/A)') continue;
    const next: Next = { exact: 0, allowance: 0 };
    await prove(name, [await stage.contender(name)], next, 'exact');
    if (name !== OURS) continue;
    await prove(`${name}, allowance under four limits`, [await stage.contender(name)], next, 'allowance');
    const processes = await stage.several(name, PROCESSES);
    await Promise.all(processes.map((contender) => contender.touch('users', WARM_UP)));
    await prove(`${name}, ${PROCESSES} processes at once`, processes, next, 'exact');
    await prove(`${name}, allowance, ${PROCESSES} processes at once`, processes, next, 'allowance');
  }
  return proofs;
}

/** Again, about fresh subjects, where the machine was too slow for an answer of the store in time: such a burst proves nothing either way. */
async function askedInTime(processes: readonly RemoteContender[], scenario: 'exact' | 'allowance', next: Next, subjects: number): Promise<number[]> {
  for (let goes = 1; ; goes += 1) {
    const from = next[scenario];
    next[scenario] += subjects;
    try {
      return await admittedBy(processes, scenario, from, subjects);
    } catch (error) {
      if (goes === GOES || !(error instanceof ContenderProcessError)) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** One call each first, which counts: a process that has yet to learn the policy is not what is asked here. */
async function admittedBy(processes: readonly RemoteContender[], scenario: Scenario, from: number, subjects: number): Promise<number[]> {
  const admitted = Array.from({ length: subjects }, () => 0);
  for (const times of [1, TIMES]) {
    // All have answered before anything else is asked, whatever the answer.
    for (const burst of await Promise.allSettled(processes.map((contender) => contender.burst(scenario, { from, subjects, times })))) {
      if (burst.status === 'rejected') throw burst.reason;
      burst.value.forEach((count, at) => (admitted[at] = (admitted[at] ?? 0) + count));
    }
  }
  return admitted;
}
