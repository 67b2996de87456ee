import type { CatalogueCache } from '@quotaplane/policy';
import { UNIDENTIFIED, type Call, type CallClass } from './decide/call';
import type { EndpointClassMark } from './decorators';
import type { HandlerRules } from './handler-rules';
import { routeTemplateOf } from './http/request-facts';
import type { ClientAddress } from './identity/client-address';
import type { GuardedRequest, Identity } from './identity/identity';
import type { ResolvedOptions } from './resolve-options';

/** A `@Cost` function answered what is no cost: a fault of the service, not of its caller. */
export class InvalidCostError extends Error {
  override readonly name = 'InvalidCostError';
  constructor(className: string, cost: unknown) {
    super(`@Cost of endpoint class ${className} answered ${String(cost)}; a cost is a whole number from 0 to 2^53-1`);
  }
}

const ANONYMOUS_TENANT = 'anonymous';
const DEFAULT_COST = 1;
const DEFAULT_METER = 'requests';

/** Puts together what is decided: the class from the catalogue, the cost, who is counted and by what. */
export class CallBuilder {
  constructor(
    private readonly catalogue: Pick<CatalogueCache, 'classes'>,
    private readonly addresses: ClientAddress,
    private readonly options: Pick<ResolvedOptions, 'failMode'>,
  ) {}

  /** @throws {InvalidCostError} and whatever a `@Cost` or `@Subject` function throws */
  build(request: GuardedRequest, rules: HandlerRules, identity: Exclude<Identity, { kind: 'unauthenticated' }>, arrivedAtMs: number): Call {
    const known = this.catalogue.classes()?.classes[rules.endpointClass.slug];
    const callClass = this.classOf(rules.endpointClass, known);
    const isTenant = identity.kind === 'tenant';
    return {
      tenant: isTenant ? identity.tenant : identity.kind === 'anonymous' ? ANONYMOUS_TENANT : UNIDENTIFIED,
      isAnonymous: !isTenant,
      class: callClass,
      method: request.method,
      route: routeTemplateOf(request),
      cost: costOf(request, rules, callClass.slug, known?.cost ?? DEFAULT_COST),
      address: this.addresses.of(request),
      keyId: isTenant ? identity.keyId : undefined,
      userId: isTenant ? identity.userId : undefined,
      subjects: subjectsOf(request, rules),
      arrivedAtMs,
    };
  }

  private classOf({ slug, failMode }: EndpointClassMark, known: Pick<CallClass, 'meter' | 'failMode'> | undefined): CallClass {
    return { slug, meter: known?.meter ?? DEFAULT_METER, failMode: known?.failMode ?? failMode ?? this.options.failMode };
  }
}

function costOf(request: GuardedRequest, { cost }: HandlerRules, className: string, classCost: number): number {
  const units = cost === undefined ? classCost : typeof cost === 'number' ? cost : cost(request);
  if (!Number.isSafeInteger(units) || units < 0) throw new InvalidCostError(className, units);
  return units;
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
