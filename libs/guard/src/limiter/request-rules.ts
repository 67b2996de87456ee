import type { CostOf, FailMode, SubjectOf } from '../decorators';
import { PLAIN_RULES, type HandlerRules } from '../handler-rules';
import type { GuardedRequest } from '../identity/identity';

/** What a plain service says about the requests that it lets a limiter judge; as the decorators do in a Nest service. */
export interface RequestRules {
  /** Slug of the endpoint class; default `default`. */
  readonly endpointClass?: string | ((request: GuardedRequest) => string);
  /** Whole units, or worked out from the request; default: the class's cost. */
  readonly cost?: number | CostOf;
  /** By name, for limits of scope `subject:<name>`. */
  readonly subjects?: Readonly<Record<string, SubjectOf>>;
  /** Holds until the platform's catalogue of classes was seen; default the option `failMode`. */
  readonly failMode?: FailMode;
  /** True leaves a request alone: no limit, no usage, no fields. */
  readonly skip?: (request: GuardedRequest) => boolean;
  /** Each request holds a slot of its tenant's concurrency until its answer has ended; default false. */
  readonly limitConcurrency?: boolean;
}

/** The rules of each request; made once where they are the same for all. */
export function rulesReader(rules: RequestRules): (request: GuardedRequest) => HandlerRules {
  const { endpointClass = PLAIN_RULES.endpointClass.slug, failMode, cost, subjects = {}, limitConcurrency = false } = rules;
  const rest = {
    isSkipped: false,
    cost,
    subjects: Object.entries(subjects).map(([name, subjectOf]) => ({ name, subjectOf })),
    holdsSlot: limitConcurrency,
  };
  if (typeof endpointClass === 'function') return (request) => ({ ...rest, endpointClass: { slug: endpointClass(request), failMode } });
  const fixed: HandlerRules = { ...rest, endpointClass: { slug: endpointClass, failMode } };
  return () => fixed;
}
