import type { CostOf, EndpointClassMark, SubjectMark } from './decorators';

/** What the decorators of one handler and its controller say. */
export interface HandlerRules {
  readonly isSkipped: boolean;
  readonly endpointClass: EndpointClassMark;
  /** Undefined: the class's cost. */
  readonly cost: number | CostOf | undefined;
  readonly subjects: readonly SubjectMark[];
  /** Each call holds a slot of its tenant's concurrency until it has ended. */
  readonly holdsSlot: boolean;
}

/** Rules of a call about which nothing is said. */
export const PLAIN_RULES: HandlerRules = { isSkipped: false, endpointClass: { slug: 'default' }, cost: undefined, subjects: [], holdsSlot: false };
