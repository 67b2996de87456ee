import { OVERRIDABLE_SCOPES, type Limit, type OverridableScope, type SubjectLimit, type SubjectPolicy } from '@quotaplane/contracts';
import { compileLimit, tierSourceOf } from './compile-limit';
import { own } from './effective-number';
import { overridesAt, tierAt, versionAt } from './in-force';
import type { OverrideSource, PolicySource } from './source';

/** Field of `qp:{tenant}:subjects` -> what it will hold. */
export type CompiledSubjects = ReadonlyMap<string, SubjectPolicy>;

/** A stretch in which nothing of the whole tenant changes by itself; periods do not cut it, for no limit depends on them. */
interface Frame {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly tierSource: string;
  readonly limits: readonly Limit[];
  readonly overrides: readonly OverrideSource[];
}

/**
 * The overrides of single keys, users and addresses, each with a timeline of its own: contiguous segments from the first period's start to the last
 * period's end, neighbours never equal, each with the final numbers of only those limits of the subject's scope that its overrides name there.
 * An override of the subject goes before one of the whole tenant, whichever is newer; `at-least` is compared with the tier's number.
 * A limit of another scope, or one that the tier in force lacks, is left out, and so is a subject for which nothing is left. Pure.
 */
export function compileSubjects(source: PolicySource): CompiledSubjects {
  const compiled = new Map<string, SubjectPolicy>();
  if (source.subjects === undefined || source.subjects.size === 0) return compiled;
  const frames = framesOf(source);
  for (const [field, overrides] of source.subjects) {
    const scope = scopeOf(field);
    const segments = scope === undefined ? [] : segmentsOf(frames, scope, overrides);
    if (segments.some(({ limits }) => limits.length > 0)) compiled.set(field, { v: 1, segments });
  }
  return compiled;
}

/** The scopes that have any, sorted. */
export function subjectScopesOf(subjects: CompiledSubjects): OverridableScope[] {
  const found = new Set<string>();
  for (const field of subjects.keys()) found.add(field.slice(0, field.indexOf(':')));
  return OVERRIDABLE_SCOPES.filter((scope) => found.has(scope)).sort();
}

const scopeOf = (field: string): OverridableScope | undefined => OVERRIDABLE_SCOPES.find((scope) => field.startsWith(`${scope}:`));

function framesOf(source: PolicySource): Frame[] {
  const [startMs, endMs] = [source.periods[0]?.startMs, source.periods.at(-1)?.endMs];
  if (startMs === undefined || endMs === undefined) return [];
  const changes = [...source.tiers.flatMap((span) => [span.fromMs, ...span.versions.map((version) => version.effectiveMs)]), ...instantsOf(source.overrides)];
  const starts = [startMs, ...cutsWithin(changes, startMs, endMs)];
  return starts.flatMap((fromMs, index) => {
    const tier = tierAt(source.tiers, fromMs);
    if (tier === undefined) return [];
    const version = versionAt(tier, fromMs);
    const limits = version?.content.limits ?? [];
    return [{ fromMs, untilMs: starts[index + 1] ?? endMs, tierSource: tierSourceOf(tier, version), limits, overrides: overridesAt(source.overrides, fromMs) }];
  });
}

function segmentsOf(frames: readonly Frame[], scope: OverridableScope, overrides: readonly OverrideSource[]): SubjectPolicy['segments'] {
  const segments: SubjectPolicy['segments'] = [];
  let textBefore: string | undefined;
  for (const frame of frames) {
    const starts = [frame.fromMs, ...cutsWithin(instantsOf(overrides), frame.fromMs, frame.untilMs)];
    starts.forEach((fromMs, index) => {
      const untilMs = starts[index + 1] ?? frame.untilMs;
      const limits = limitsOf(frame, scope, overridesAt(overrides, fromMs));
      const text = limits.length === 0 ? '' : JSON.stringify(limits);
      const neighbour = segments.at(-1);
      if (neighbour !== undefined && text === textBefore) neighbour.untilMs = untilMs;
      else segments.push({ fromMs, untilMs, limits });
      textBefore = text;
    });
  }
  return segments;
}

function limitsOf(frame: Frame, scope: OverridableScope, overrides: readonly OverrideSource[]): SubjectLimit[] {
  if (overrides.length === 0) return [];
  const named = frame.limits.filter((limit) => limit.scope === scope && overrides.some(({ set }) => own(set.limits, limit.name) !== undefined));
  return named.map((tierLimit) => {
    const { name, limit, burst, maxQueue, sources } = compileLimit(tierLimit, frame.tierSource, [...overrides, ...frame.overrides]);
    return { name, limit, burst, ...(maxQueue === undefined ? {} : { maxQueue }), sources };
  });
}

const instantsOf = (overrides: readonly OverrideSource[]): (number | null)[] => overrides.flatMap((override) => [override.fromMs, override.untilMs]);

/** Those strictly between, sorted, each once. */
function cutsWithin(instants: readonly (number | null)[], fromMs: number, untilMs: number): number[] {
  const within = instants.filter((atMs) => atMs !== null && atMs > fromMs && atMs < untilMs);
  return [...new Set(within)].sort((left, right) => (left ?? 0) - (right ?? 0)).filter((atMs) => atMs !== null);
}
