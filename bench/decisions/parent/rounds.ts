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

export interface Row {
  readonly label: string;
  readonly perSecond: Spread;
  readonly cpuMicros: Spread;
  readonly redisMicros: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  /** Against the base in the same round. */
  readonly ratio: Spread;
  readonly cpuRatio: Spread;
  readonly redisRatio: Spread;
  readonly p50Ratio: Spread;
  readonly p99Ratio: Spread;
  readonly admittedShare: number;
}

const SETTLE_MS = 1_050;

type Measured = Slice & { readonly perSecond: number; readonly redisMicros: number };

/**
 * Slices in turn, round after round, so that other work on the machine hits all alike. Every second round goes the other way round, so that nobody always
 * comes after the same neighbour.
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
  const base = measured.values().next().value ?? [];
  return entries.map((entry) => rowOf(entry, measured.get(entry) ?? [], base));
}

async function measure(stage: Stage, { contender, scenario, subjects = SUBJECTS[scenario] }: Entry, callers: number, forMs: number): Promise<Measured> {
  const remote = await stage.contender(contender);
  const before = await stage.meter.cpuMicros();
  const slice = await remote.load(scenario, { subjects, callers, forMs });
  const redisMicros = ((await stage.meter.cpuMicros()) - before) / slice.decisions;
  // Its journal is written once a second: once within the slice, which counts, and once after it, which must not fall to the next contender.
  if (contender === OURS) await sleep(SETTLE_MS);
  return { ...slice, redisMicros, perSecond: (slice.decisions * 1_000) / slice.wallMs };
}

function rowOf({ label, contender }: Entry, own: readonly Measured[], base: readonly Measured[]): Row {
  const spread = (figure: (slice: Measured) => number): Spread => spreadOf(own.map(figure));
  const against = (figure: (slice: Measured) => number): Spread =>
    spreadOf(own.flatMap((slice, round) => (base[round] === undefined ? [] : [figure(slice) / figure(base[round])])));
  return {
    label: label ?? contender,
    perSecond: spread((slice) => slice.perSecond), ratio: against((slice) => slice.perSecond),
    cpuMicros: spread((slice) => slice.cpuMicros), cpuRatio: against((slice) => slice.cpuMicros),
    redisMicros: spread((slice) => slice.redisMicros), redisRatio: against((slice) => slice.redisMicros),
    p50Ms: spread((slice) => slice.p50Ms), p50Ratio: against((slice) => slice.p50Ms),
    p99Ms: spread((slice) => slice.p99Ms), p99Ratio: against((slice) => slice.p99Ms),
    admittedShare: own.reduce((sum, slice) => sum + slice.admitted, 0) / Math.max(1, own.reduce((sum, slice) => sum + slice.decisions, 0)),
  };
}
