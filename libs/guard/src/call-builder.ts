import { IDEMPOTENCY_KEY_HEADER, type CatalogueClass } from '@quotaplane/contracts';
import type { CatalogueCache } from '@quotaplane/policy';
import { costFault, isCost } from './cost';
import { UNIDENTIFIED, type Call, type CallClass } from './decide/call';
import { idempotencyKeyOf } from './decide/idempotent-retry';
import type { EndpointClassMark } from './decorators';
import type { HandlerRules } from './handler-rules';
import { routeTemplateOf } from './http/request-facts';
import type { ClientAddress } from './identity/client-address';
import { headerOf, type GuardedRequest, type Identity } from './identity/identity';
import type { ResolvedOptions } from './resolve-options';

const ANONYMOUS_TENANT = 'anonymous';
const IDEMPOTENCY_KEY = IDEMPOTENCY_KEY_HEADER.toLowerCase();
const DEFAULT_COST = 1;
const DEFAULT_METER = 'requests';

type KnownClass = CatalogueClass | undefined;

/**
 * Every member, always, so that calls of one shape are cheap to make and to read. A class, since V8 may put what a literal makes among the old objects for
 * good, once the first of them had to wait for their policies.
 */
class BuiltCall implements Call {
  readonly class: CallClass;
  tenant = UNIDENTIFIED;
  isAnonymous = true;
  keyId: Call['keyId'] = undefined;
  userId: Call['userId'] = undefined;
  keyKind: Call['keyKind'] = undefined;
  costFault: string | undefined = undefined;
  holdsSlot: boolean | undefined = undefined;
  idempotencyKey: string | undefined = undefined;
  subjects: Call['subjects'] = undefined;

  constructor(callClass: CallClass, readonly method: string, readonly route: string, readonly cost: number, readonly address: string, readonly arrivedAtMs: number) {
    this.class = callClass;
  }

  identify(identity: Exclude<Identity, { kind: 'unauthenticated' }>): void {
    if (identity.kind === 'anonymous') this.tenant = ANONYMOUS_TENANT;
    if (identity.kind !== 'tenant') return;
    this.isAnonymous = false;
    this.tenant = identity.tenant;
    this.keyId = identity.keyId;
    this.userId = identity.userId;
    this.keyKind = identity.keyKind;
  }
}

/** Puts together what is decided: the class from the catalogue, the cost, who is counted and by what. */
export class CallBuilder {
  private readonly classes = new WeakMap<EndpointClassMark, { readonly known: KnownClass; readonly callClass: CallClass }>();

  constructor(
    private readonly catalogue: Pick<CatalogueCache, 'classes'>,
    private readonly addresses: ClientAddress,
    private readonly options: Pick<ResolvedOptions, 'failMode'>,
  ) {}

  /** @throws whatever a `@Cost` or `@Subject` function throws */
  build(request: GuardedRequest, rules: HandlerRules, identity: Exclude<Identity, { kind: 'unauthenticated' }>, arrivedAtMs: number): Call {
    const known = this.known(rules.endpointClass.slug);
    const units = unitsOf(request, rules, known?.cost ?? DEFAULT_COST);
    const hasCost = isCost(units);
    // What costs nothing that can be counted only looks, so that its refusal carries the fields too.
    const call = new BuiltCall(this.classOf(rules.endpointClass, known), request.method, routeTemplateOf(request), hasCost ? units : 0, this.addresses.of(request), arrivedAtMs);
    call.identify(identity);
    if (!hasCost) call.costFault = costFault(units);
    if (rules.holdsSlot) call.holdsSlot = true;
    if (known?.retry) call.idempotencyKey = idempotencyKeyOf(headerOf(request, IDEMPOTENCY_KEY));
    call.subjects = subjectsOf(request, rules);
    return call;
  }

  private known(slug: string): KnownClass {
    return this.catalogue.classes()?.classes[slug];
  }

  /** Made once for a mark and a class of the catalogue, not once a call. */
  private classOf(mark: EndpointClassMark, known: KnownClass): CallClass {
    const last = this.classes.get(mark);
    if (last !== undefined && last.known === known) return last.callClass;
    const callClass = this.makeClass(mark, known);
    this.classes.set(mark, { known, callClass });
    return callClass;
  }

  private makeClass({ slug, failMode }: EndpointClassMark, known: KnownClass): CallClass {
    return {
      slug,
      meter: known?.meter ?? DEFAULT_METER,
      failMode: known?.failMode ?? failMode ?? this.options.failMode,
      refundOn: known?.refundOn,
      ...(known?.retry ? { retry: known.retry } : {}),
    };
  }
}

/** Not yet known to be a cost: a `@Cost` function works it out from what the caller sent. */
function unitsOf(request: GuardedRequest, { cost }: HandlerRules, classCost: number): unknown {
  return cost === undefined ? classCost : typeof cost === 'number' ? cost : cost(request);
}

function subjectsOf(request: GuardedRequest, { subjects }: HandlerRules): ReadonlyMap<string, string> | undefined {
  if (subjects.length === 0) return undefined;
  const found = new Map<string, string>();
  for (const { name, subjectOf } of subjects) {
    const subject = subjectOf(request);
    if (subject) found.set(`subject:${name}`, subject);
  }
  return found;
}
