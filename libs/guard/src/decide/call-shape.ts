import type { Scope } from '@quotaplane/contracts';
import type { Charge, Check } from '@quotaplane/rate-limit';
import { subjectOf, type Call } from './call';
import type { CallPlan } from './call-plan';
import type { Applied } from './charges';
import type { CounterReference } from './counter-names';
import type { DeniedCall } from './denied-calls';
import { RecentMap } from './recent-map';

/**
 * What is worked out once for all calls that are alike: of one plan, tenant, generation and cost, and with the same subjects and route as far as a
 * limit of the plan looks at them. Two calls of one shape are asked for by the same charges, and judged alike by the store at any one instant.
 */
export interface CallShape {
  readonly cost: number;
  readonly generation: number;
  /** Rates and quotas in policy order; what a single call adds (its key, its slot) is not here. */
  readonly applied: readonly Applied[];
  /** Of {@link applied}; the same objects for every call, so that a store may keep what it makes of them. */
  readonly charges: readonly Charge[];
  /** Of the tenant's calls in flight, once one of them held a slot. */
  slot: CounterReference | undefined;
  /** The whole check, while the tenant's head stays what it was. */
  check: Check | undefined;
  /** The store's word that calls like this are denied for now. */
  denied: DeniedCall | undefined;
}

/** Costs kept apart for one caller; calls of more different costs have most of their shapes made anew. */
const COSTS_MAX = 4;

/** Makes the shape of a call. @param like one that differs in cost or generation only: counters are named already */
type MakeShape = (plan: CallPlan, call: Call, generation: number, like: CallShape | undefined) => CallShape;

/** The shapes of one caller, which differ in cost or generation. */
type Shapes = CallShape[];

/** The shapes of one plan: without a look-up where its tenant's calls are all alike, else by the caller's subjects. Bounded; what is forgotten is made anew. */
export class CallShapes {
  private readonly alone: Shapes = [];
  private own: RecentMap<Shapes> | undefined;
  /** Of calls by other tenants than the first: a fallback policy has many. */
  private others: RecentMap<Shapes> | undefined;

  private readonly tenant: string;
  private readonly isAnonymous: boolean;

  /** @param first whose tenant's names need not hold the tenant. Never kept: where objects of one kind are, V8 puts all later ones among the old. */
  constructor(private readonly plan: CallPlan, first: Call) {
    this.tenant = first.tenant;
    this.isAnonymous = first.isAnonymous;
  }

  shapeOf(call: Call, generation: number, make: MakeShape): CallShape {
    const shapes = this.shapesOf(call);
    for (const shape of shapes) if (shape.cost === call.cost && shape.generation === generation) return shape;
    const made = make(this.plan, call, generation, shapes[0]);
    if (shapes.length >= COSTS_MAX) shapes.shift();
    shapes.push(made);
    return made;
  }

  private shapesOf(call: Call): Shapes {
    if (call.tenant !== this.tenant || call.isAnonymous || this.isAnonymous) return found((this.others ??= new RecentMap()), foreignName(this.plan, call));
    const name = callerName(this.plan, call);
    return name === '' ? this.alone : found((this.own ??= new RecentMap()), name);
  }
}

function found(map: RecentMap<Shapes>, name: string): Shapes {
  const known = map.get(name);
  if (known) return known;
  const shapes: Shapes = [];
  map.set(name, shapes);
  return shapes;
}

/** Names a caller among those of one tenant, by what the plan tells them apart by. One such thing is its own name; several never meet in one name. */
function callerName({ scopes, isByRoute }: CallPlan, call: Call): string {
  const [only] = scopes;
  if (only === undefined) return isByRoute ? call.route : '';
  if (scopes.length === 1 && !isByRoute) return subjectOf(call, only) ?? '';
  return joined(scopes, isByRoute ? call.route : '', call);
}

/** Names a caller among those of all tenants. One without credentials is counted by address where others are by tenant. */
function foreignName({ scopes, isByRoute }: CallPlan, call: Call): string {
  const whose = call.isAnonymous ? `?${call.tenant}/${call.address}` : `${call.tenant}/`;
  return `${whose}\n${joined(scopes, isByRoute ? call.route : '', call)}`;
}

/** Each part after its length, so that no text of a caller's can end a part. */
function joined(scopes: readonly Scope[], route: string, call: Call): string {
  let name = route;
  for (const scope of scopes) {
    const subject = subjectOf(call, scope) ?? '';
    name = `${subject.length}:${subject}${name}`;
  }
  return name;
}
