import { setTimeout as sleep } from 'node:timers/promises';
import type { Slice } from '../child/load';
import { OURS, type ContenderName } from '../contenders/registry';
import { SUBJECTS, type Scenario } from '../scenario';
import { spreadOf, type Spread } from './figures';
import type { Stage } from './stage';

/** One line of a comparison: who is asked what. */
export interface Entry {
  /** How it is shown; default the contender's name. */
  readonly label?: string;
  readonly contender: ContenderName;
  readonly scenario: Scenario;
  readonly subjects?: number;
}

/** Entries that take turns with the same number of callers; the first one is the base of the ratios. */
export interface Comparison {
  readonly title: string;
  readonly callers: number;
  readonly entries: readonly Entry[];
}

/** A slice with what only the parent sees. */
export type Measured = Slice & { readonly perSecond: number; readonly redisMicros: number };

export interface Row {
  readonly label: string;
  /** One a round. */
  readonly slices: readonly Measured[];
}
export type Figure = 'perSecond' | 'cpuMicros' | 'redisMicros' | 'p50Ms' | 'p99Ms';

export const spread = (row: Row, figure: Figure): Spread => spreadOf(row.slices.map((slice) => slice[figure]));

/** One row's figure over another's, round by round. */
export const against = (row: Row, base: Row, figure: Figure): Spread =>
  spreadOf(row.slices.flatMap((slice, round) => (base.slices[round] === undefined ? [] : [slice[figure] / base.slices[round][figure]])));

/** Someone who was asked what nothing forbids was denied, or the other way round: the figures are those of another work. */
export class WrongAnswerError extends Error {
  override readonly name = 'WrongAnswerError';
}

const SETTLE_MS = 1_050;
const GOES = 3;

/**
 * Slices in turn, round after round, so that other work on the machine hits all alike. Every second round goes the other way round, so that nobody always
 * comes after the same neighbour.
 * @throws {WrongAnswerError} an answer is not what the scenario calls for
 */
export async function compare(stage: Stage, { callers, entries }: Comparison): Promise<Row[]> {
  const { pace } = stage;
  const measured = new Map<Entry, Measured[]>(entries.map((entry) => [entry, []]));
  for (const entry of entries) {
    await stage.touchOnce(entry.contender, entry.scenario, entry.subjects ?? SUBJECTS[entry.scenario]);
    await measure(stage, entry, callers, stage.isWarm(entry.contender) ? pace.againMs : pace.warmUpMs);
  }
  for (let round = 0; round < pace.rounds; round += 1) {
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) measured.get(entry)?.push(await measure(stage, entry, callers, pace.sliceMs));
  }
  return [...measured].map(([{ label, contender }, slices]) => ({ label: label ?? contender, slices }));
}

/** A slice without a fault, at most at the third go: on a machine with other work a deadline may be missed. */
async function measure(stage: Stage, entry: Entry, callers: number, forMs: number): Promise<Measured> {
  for (let goes = 0; goes < GOES; goes += 1) {
    const slice = await measureOnce(stage, entry, callers, forMs);
    if (slice.faults === 0) return slice;
  }
  throw new WrongAnswerError(`${entry.contender}, ${entry.scenario}: the machine is too slow for an answer in time, ${GOES} slices in a row`);
}

async function measureOnce(stage: Stage, { contender, scenario, subjects = SUBJECTS[scenario] }: Entry, callers: number, forMs: number): Promise<Measured> {
  const remote = await stage.contender(contender);
  const before = await stage.meter.cpuMicros();
  const slice = await remote.load(scenario, { subjects, callers, forMs });
  const redisMicros = ((await stage.meter.cpuMicros()) - before) / slice.decisions;
  // Its journal is written once a second: once within the slice, which counts, and once after it, which must not fall to the next contender.
  if (contender === OURS) await sleep(SETTLE_MS);
  const expected = scenario === 'denied' ? 0 : slice.decisions;
  if (slice.faults === 0 && slice.admitted !== expected) throw new WrongAnswerError(`${contender} admitted ${slice.admitted} of ${slice.decisions} in ${scenario}`);
  return { ...slice, redisMicros, perSecond: (slice.decisions * 1_000) / slice.wallMs };
}
