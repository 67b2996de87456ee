import type { Charge, Check } from '@quotaplane/rate-limit';
import type { AdmissionKeeper } from './admission-keeper';
import type { Call } from './call';
import type { CallPlan } from './call-plan';
import type { CallShape } from './call-shape';
import { appliedIn, chargesOf, type Applied } from './charges';
import type { HeldSlot } from './held-slot';
import type { KnownPolicy } from './known-policy';

/** What the store is asked about a call, with what its answer is read by. */
export type Question = ChargesQuestion | RulesQuestion;

/** May the call pass? A class, since what a literal makes may end among V8's old objects (ADR 20). */
export class ChargesQuestion {
  readonly kind = 'charges';
  readonly head: string;

  /**
   * @param applied nothing for a suspended tenant, whose head and segment are asked all the same
   * @param sentAtMs monotonic ms, no later than the check went out
   */
  constructor(
    readonly current: KnownPolicy,
    readonly plan: CallPlan,
    readonly shape: CallShape,
    readonly applied: readonly Applied[],
    readonly isSuspended: boolean,
    readonly check: Check,
    readonly held: HeldSlot | undefined,
    readonly sentAtMs: number,
  ) {
    this.head = current.head;
  }
}

/** What applies to the call? A check without charges: nothing could be compiled, so only the head matters. */
export interface RulesQuestion {
  readonly kind: 'rules';
  /** Of the cache; undefined where it holds nothing. */
  readonly head: string | undefined;
  /** Undefined: not even the tenant's policy is known. Else the overrides of the call's own subjects are asked for. */
  readonly current: KnownPolicy | undefined;
  readonly check: Check;
}

/** No list: the tenant's policy names no subjects. The one object, by which a check is known to be the same for all calls alike. */
export const NO_FIELDS: readonly string[] = [];

interface ChargesAsked extends Pick<ChargesQuestion, 'current' | 'plan' | 'shape' | 'sentAtMs'> {
  readonly call: Call;
  readonly fields: readonly string[];
  readonly admissions: AdmissionKeeper;
}

export function chargesQuestion({ call, current, plan, shape, fields, admissions, sentAtMs }: ChargesAsked): ChargesQuestion {
  const isSuspended = current.policy.status === 'suspended';
  const held = call.holdsSlot === true ? admissions.slotFor(call) : undefined;
  const applied = isSuspended ? NONE : appliedIn(shape, plan, call, held);
  const check = applied === shape.applied && fields === NO_FIELDS
    ? alikeCheck(call, current, plan, shape, admissions)
    : checkOf(call, current, plan, fields, chargesOf(applied), isSuspended ? undefined : admissions);
  return new ChargesQuestion(current, plan, shape, applied, isSuspended, check, held, sentAtMs);
}

const NONE: readonly Applied[] = [];

/** One check for all calls of a shape, as long as the head stays: a store may keep what it makes of it. */
function alikeCheck(call: Call, current: KnownPolicy, plan: CallPlan, shape: CallShape, admissions: AdmissionKeeper): Check {
  const known = shape.check;
  if (known !== undefined && known.knownHead === current.head) return known;
  return (shape.check = checkOf(call, current, plan, NO_FIELDS, shape.charges, admissions));
}

/** @param admissions undefined: no unit is asked for, so that none can be in doubt */
function checkOf(
  call: Call, { head, generation }: KnownPolicy, plan: CallPlan, subjectFields: readonly string[], charges: readonly Charge[], admissions: AdmissionKeeper | undefined,
): Check {
  const { fromMs, untilMs } = plan.segment;
  const onDoubt = admissions?.doubtOf(call, plan, generation);
  return { tenant: call.tenant, knownHead: head, fromMs, untilMs, subjectFields, charges, ...(onDoubt ? { onDoubt } : {}) };
}

/** @param current undefined: the check names the head, if there is one, and brings the policy behind it. Else it names none and brings the overrides. */
export function rulesQuestion({ tenant }: Call, current: KnownPolicy | undefined, head: string | undefined, subjectFields: readonly string[]): RulesQuestion {
  const knownHead = current === undefined && head !== undefined ? head : '';
  return { kind: 'rules', head, current, check: { tenant, knownHead, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, subjectFields, charges: [] } };
}
