import type { Call } from './call';
import type { CallPlan } from './call-plan';
import type { CallShape } from './call-shape';
import { shapeOf } from './charges';
import type { KnownPolicy } from './known-policy';

/**
 * What the last call of a tenant was judged by, where its limits tell none of its callers apart: the next one is mostly like it, and finds its plan and
 * shape here instead of by a walk over the tenant's segments. Dies with the policy that it hangs on.
 */
export interface UsualCall {
  /** Bounds of the plan's segment in store time, `[fromMs, untilMs)`. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly class: Call['class'];
  readonly method: string;
  readonly plan: CallPlan;
  readonly shape: CallShape;
}

/** @returns what the tenant's last call was judged by, where this one is judged by the same at that instant */
export function usualFor({ usual }: KnownPolicy, call: Call, nowMs: number): UsualCall | undefined {
  if (usual === undefined || usual.class !== call.class || usual.method !== call.method || usual.shape.cost !== call.cost) return undefined;
  return nowMs >= usual.fromMs && nowMs < usual.untilMs && !call.isAnonymous ? usual : undefined;
}

/** The shape of a call, remembered for the next one where nothing of the caller but its tenant is in it. */
export function usualShapeOf(plan: CallPlan, call: Call, current: KnownPolicy): CallShape {
  const shape = shapeOf(plan, call, current.generation ?? 0);
  if (plan.scopes.length > 0 || plan.isByRoute || call.isAnonymous || current.policy.subjectScopes !== undefined) return shape;
  const { fromMs, untilMs } = plan.segment;
  current.usual = { fromMs, untilMs, class: call.class, method: call.method, plan, shape };
  return shape;
}
