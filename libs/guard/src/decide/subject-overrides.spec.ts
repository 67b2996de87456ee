import { subjectField, type Segment, type SubjectPolicy } from '@quotaplane/contracts';
import { SubjectCache } from '@quotaplane/policy';
import { beforeEach, describe, expect, it } from 'vitest';
import { limitOf, policyOf } from '../specs/policies';
import type { Call } from './call';
import { SubjectOverrides } from './subject-overrides';
import { segmentFor, subjectFieldsOf } from './subject-segments';

const NOW_MS = Date.now();
const HOUR_MS = 3_600_000;
const sources = { limit: 'override:1', burst: 'override:1' };
const ANN = subjectField('user', 'ann');
const ownOf = (limit: number | null, fromMs = 0, untilMs = NOW_MS + HOUR_MS): SubjectPolicy => ({
  v: 1, segments: [{ fromMs, untilMs, limits: [{ name: 'mine', limit, burst: limit, sources }] }],
});
const [segment] = policyOf({ limits: [limitOf({ name: 'mine', scope: 'user', limit: 5, burst: 5 }), limitOf({ name: 'all', limit: 9, burst: 9 })] }).segments as [Segment];
const numbers = (found: Segment | 'unknown'): (number | null)[] | 'unknown' => (found === 'unknown' ? found : found.limits.map(({ limit }) => limit));

describe('overrides of single subjects', () => {
  const wanted: string[] = [];
  let overrides: SubjectOverrides;

  beforeEach(() => {
    wanted.length = 0;
    overrides = new SubjectOverrides(new SubjectCache(), { want: (member) => void wanted.push(member) });
  });
  const accept = (head: string, own: SubjectPolicy | null): void =>
    overrides.accept('acme', [ANN], { head, policy: null, subjects: [own && JSON.stringify(own)] });
  const at = (head: string, fields = [ANN]): ReturnType<typeof numbers> => numbers(overrides.segmentOf('acme', fields, head, segment, NOW_MS));
  const last = (head: string): ReturnType<typeof numbers> => numbers(overrides.lastSegmentOf('acme', [ANN], head, segment, NOW_MS));

  it('are asked for once under each head, also where there are none', () => {
    expect(at('1.1')).toBe('unknown');
    accept('1.1', null);
    expect(at('1.1')).toEqual([5, 9]);
    expect(at('2.1')).toBe('unknown');
    accept('2.1', ownOf(50));
    expect(at('2.1')).toEqual([50, 9]);
    expect(at('2.1', [])).toEqual([5, 9]);
  });

  it('replace the numbers of limits of their own scope alone, to unlimited too', () => {
    accept('1.1', ownOf(null));
    expect(at('1.1')).toEqual([null, 9]);
    const stretch = { fromMs: 0, untilMs: NOW_MS + 1, limits: [{ name: 'all', limit: 99, burst: 99, sources }] };
    expect(numbers(segmentFor(segment, 'user', stretch))).toEqual([5, 9]);
  });

  // Mutation: the tenant's bounds are kept, so that a node whose clock is off enforces an override that has ended.
  it('hold within the stretch that both timelines share', () => {
    const { limits } = ownOf(50).segments[0] ?? { limits: [] };
    expect(segmentFor(segment, 'user', { fromMs: NOW_MS - 5, untilMs: NOW_MS + 7, limits })).toMatchObject({ fromMs: NOW_MS - 5, untilMs: NOW_MS + 7 });
    expect(segmentFor(segment, 'user', { fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limits })).toMatchObject({ fromMs: segment.fromMs, untilMs: segment.untilMs });
  });

  it('are the same segment for the same two, so that plans hang on it', () => {
    accept('1.1', ownOf(50));
    expect(overrides.segmentOf('acme', [ANN], '1.1', segment, NOW_MS)).toBe(overrides.segmentOf('acme', [ANN], '1.1', segment, NOW_MS));
  });

  it('stand as last known while nobody can be asked: under this head, else under the one before, and none where none was the last word', () => {
    expect(last('1.1')).toEqual([5, 9]);
    at('1.1');
    accept('1.1', ownOf(50));
    at('1.1');
    expect(last('1.1')).toEqual([50, 9]);
    expect(last('2.1')).toEqual([50, 9]);
    at('2.1');
    expect(last('2.1')).toEqual([50, 9]);
    accept('2.1', null);
    expect(last('2.1')).toEqual([5, 9]);
  });

  it('that are none of ours leave the tenant\'s numbers and ask the worker', () => {
    overrides.accept('acme', [ANN], { head: '1.1', policy: null, subjects: ['{"v":9}'] });
    expect(at('1.1')).toEqual([5, 9]);
    expect(wanted).toEqual(['tenant:acme']);
  });

  it('are looked for by the subjects that a call has', () => {
    const call: Call = { tenant: 'acme', isAnonymous: false, class: { slug: 'c', meter: 'requests', failMode: 'local' }, method: 'GET', route: '/', cost: 1, address: '192.0.2.1', userId: 'ann', arrivedAtMs: 0 };
    expect(subjectFieldsOf(call, ['ip', 'key', 'user'])).toEqual(['ip:192.0.2.1', 'user:ann']);
  });
});
