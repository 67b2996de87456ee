import { applyDecorators, SetMetadata, UseInterceptors, type CustomDecorator } from '@nestjs/common';
import type { FailMode } from '@quotaplane/contracts';
import { QuotaInterceptor } from './contexts/quota.interceptor';
import { InvalidCostError, isCost } from './cost';
import type { GuardedRequest } from './identity/identity';

export type { FailMode };
/** Works a cost out from a request. Its result is the caller's input: bound it, and mind a missing query or body. */
export type CostOf = (request: GuardedRequest) => number;
export type SubjectOf = (request: GuardedRequest) => string | undefined;

export interface EndpointClassMark {
  readonly slug: string;
  readonly failMode?: FailMode | undefined;
}
export interface SubjectMark {
  readonly name: string;
  readonly subjectOf: SubjectOf;
}

export const ENDPOINT_CLASS = 'quotaplane:endpoint-class';
export const COST = 'quotaplane:cost';
export const SUBJECTS = 'quotaplane:subjects';
export const SKIP_QUOTA = 'quotaplane:skip';
export const HOLDS_SLOT = 'quotaplane:holds-slot';

/**
 * Names the endpoint class of a handler or controller; `default` without it. Cost, meter and fail mode come from the platform's catalogue.
 * @param slug of the class, `[a-z0-9-]{1,63}`
 * @param options.failMode holds until the catalogue has been seen, so that a service that starts while the store is away fails closed where it must
 */
export function EndpointClass(slug: string, options: { readonly failMode?: FailMode } = {}): CustomDecorator {
  return SetMetadata<string, EndpointClassMark>(ENDPOINT_CLASS, { slug, failMode: options.failMode });
}

/**
 * Cost of a call in whole units from 0 to 2^53-1, instead of the class's. 0 looks without spending.
 * A function works it out from what the caller sent. Where its result is no cost (NaN, a fraction, negative, too large) the call is refused with
 * 422 `invalid`, uses nothing, and is logged once per class and minute; above what a limit can hold it is 422 `cost_exceeds_limit`. What the
 * function throws becomes the answer, so an exception of Nest's keeps its status and any other error is a 500.
 * @example Cost((request) => Math.min(100, Math.max(1, Math.trunc(Number(request.query?.['pages'])) || 1)))
 * @throws {InvalidCostError} `cost` is a number and no cost
 */
export function Cost(cost: number | CostOf): CustomDecorator {
  if (typeof cost === 'number' && !isCost(cost)) throw new InvalidCostError(cost);
  return SetMetadata<string, number | CostOf>(COST, cost);
}

/**
 * Supplies the subject of limits with scope `subject:<name>`, such as the account of a sign-in. May be used several times.
 * Limits of that scope do not apply to a call for which it answers undefined or ''.
 */
export function Subject(name: string, subjectOf: SubjectOf): MethodDecorator & ClassDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const on: object = descriptor ? (descriptor.value as object) : target;
    const marks = (Reflect.getOwnMetadata(SUBJECTS, on) ?? []) as readonly SubjectMark[];
    Reflect.defineMetadata(SUBJECTS, [...marks, { name, subjectOf }], on);
  };
}

/**
 * Leaves a handler or controller unguarded: no limit, no usage, no headers.
 * @param isSkipped false guards a handler of a controller that is left out
 */
export function SkipQuota(isSkipped = true): CustomDecorator {
  return SetMetadata(SKIP_QUOTA, isSkipped);
}

/**
 * Lets each call of a handler or controller hold one slot of its tenant's concurrency from admission until its answer has been sent, or its caller
 * has gone; on HTTP that includes streams. In other contexts until the handler's result has ended; not for GraphQL subscriptions, which go on after it.
 */
export function LimitConcurrency(): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(HOLDS_SLOT, true), UseInterceptors(QuotaInterceptor));
}
