import { IDEMPOTENCY_KEY_HEADER } from '@quotaplane/contracts';
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

/** Puts together what is decided: the class from the catalogue, the cost, who is counted and by what. */
export class CallBuilder {
  constructor(
    private readonly catalogue: Pick<CatalogueCache, 'classes'>,
    private readonly addresses: ClientAddress,
    private readonly options: Pick<ResolvedOptions, 'failMode'>,
  ) {}

  /** @throws whatever a `@Cost` or `@Subject` function throws */
  build(request: GuardedRequest, rules: HandlerRules, identity: Exclude<Identity, { kind: 'unauthenticated' }>, arrivedAtMs: number): Call {
    const known = this.catalogue.classes()?.classes[rules.endpointClass.slug];
    const callClass = this.classOf(rules.endpointClass, known);
    const units = unitsOf(request, rules, known?.cost ?? DEFAULT_COST);
    const isTenant = identity.kind === 'tenant';
    return {
      tenant: isTenant ? identity.tenant : identity.kind === 'anonymous' ? ANONYMOUS_TENANT : UNIDENTIFIED,
      isAnonymous: !isTenant,
      class: callClass,
      method: request.method,
      route: routeTemplateOf(request),
      // What costs nothing that can be counted only looks, so that its refusal carries the fields too.
      cost: isCost(units) ? units : 0,
      costFault: isCost(units) ? undefined : costFault(units),
      address: this.addresses.of(request),
      keyId: isTenant ? identity.keyId : undefined,
      userId: isTenant ? identity.userId : undefined,
      subjects: subjectsOf(request, rules),
      ...(isTenant && identity.keyKind ? { keyKind: identity.keyKind } : {}),
      ...(rules.holdsSlot ? { holdsSlot: true } : {}),
      ...(known?.retry ? { idempotencyKey: idempotencyKeyOf(headerOf(request, IDEMPOTENCY_KEY)) } : {}),
      arrivedAtMs,
    };
  }

  private classOf({ slug, failMode }: EndpointClassMark, known: Omit<CallClass, 'slug'> | undefined): CallClass {
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
