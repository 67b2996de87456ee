import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ContenderError, type Ask } from '../contenders/contender';

export interface Load {
  readonly subjects: number;
  readonly callers: number;
  readonly forMs: number;
}

export interface Slice {
  readonly decisions: number;
  readonly admitted: number;
  /** Decisions that were not the contender's own work, such as those after a deadline: with any of them the slice tells nothing. */
  readonly faults: number;
  readonly wallMs: number;
  /** User and system time of the whole process, per decision. */
  readonly cpuMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Decisions of a caller for each that is timed: clocks cost as much as a tenth of the quickest decision. */
const TIMED_EACH = 8;
/** Decisions of a caller between two turns of the event loop, which answers from memory alone would never let go on. */
const TURN_EACH = 64;
const SAMPLES_MAX = 1 << 18;
/** Prime, so that callers walk over all subjects and never meet in one batch unless there are fewer than callers. */
const STRIDE = 7_919;

/** Asks for `forMs` with so many callers, each of which waits for its own answer. */
export async function load(ask: Ask, { subjects, callers, forMs }: Load): Promise<Slice> {
  const latencies = new Float64Array(SAMPLES_MAX);
  let [timed, turn, decisions, admitted, faults] = [0, 0, 0, 0, 0];
  const startedCpu = process.cpuUsage();
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + forMs;
  const caller = async (): Promise<void> => {
    for (let own = 0; ; own += 1) {
      const isTimed = own % TIMED_EACH === 0;
      const askedAtMs = isTimed ? performance.now() : 0;
      if (askedAtMs >= endsAtMs) return;
      turn = (turn + STRIDE) % subjects;
      const isAdmitted = await ask(turn);
      decisions += 1;
      if (isAdmitted) admitted += 1;
      if (isTimed) latencies[timed++ % SAMPLES_MAX] = performance.now() - askedAtMs;
      if (own % TURN_EACH === TURN_EACH - 1) await nextTurn();
    }
  };
  // A caller ends at its first fault: the slice is void from then on.
  const guarded = (): Promise<void> => caller().catch((fault: unknown) => void (faults += isFault(fault)));
  await Promise.all(Array.from({ length: callers }, guarded));
  const wallMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(startedCpu);
  const sorted = latencies.subarray(0, Math.min(timed, SAMPLES_MAX)).sort();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { decisions, admitted, faults, wallMs, cpuMicros: (user + system) / decisions, p50Ms: at(0.5), p99Ms: at(0.99) };
}

const PATIENCE = 20;
const PAUSE_MS = 100;
const TOUCHING = 64;

/** Asks about each subject once, so that what is only ever done for the first call is done; again where the machine was too slow for an answer. */
export async function touch(ask: Ask, subjects: number): Promise<number> {
  let [next, admitted, faults] = [0, 0, 0];
  const caller = async (): Promise<void> => {
    while (next < subjects) {
      const subject = next++;
      for (;;) {
        try {
          if (await ask(subject)) admitted += 1;
          break;
        } catch (fault) {
          faults += isFault(fault);
          if (faults > PATIENCE * TOUCHING) throw fault;
          await sleep(PAUSE_MS);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: TOUCHING }, caller));
  return admitted;
}

/**
 * Asks `times` times at once about each of some subjects; the calls of all are mixed. Answers how many of each were admitted.
 * @throws {ContenderError} after the last answer, where one of them was a fault
 */
export async function burst(ask: Ask, { from, subjects, times }: { readonly from: number; readonly subjects: number; readonly times: number }): Promise<number[]> {
  const admitted = Array.from({ length: subjects }, () => 0);
  const one = async (at: number): Promise<void> => {
    if (await ask(from + at)) admitted[at] = (admitted[at] ?? 0) + 1;
  };
  const asked = await Promise.allSettled(Array.from({ length: subjects * times }, (_, call) => one(call % subjects)));
  const fault = asked.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
  return admitted;
}

/** 1 for a fault; anything else is an error of the bench or of a rival, and ends it. */
function isFault(fault: unknown): 1 {
  if (fault instanceof ContenderError) return 1;
  throw fault;
}
