import { API_KEY_HEADER, USER_ID_HEADER } from '@quotaplane/contracts';
import type { FailMode } from '../decorators';
import { PLAIN_RULES } from '../handler-rules';
import type { GuardedRequest, Identity } from '../identity/identity';
import type { Arrival } from './call-gate';

/** Who is calling: a tenant that the service knows, the owner of an API key, or nobody that is known. */
export type LimiterCaller =
  | { readonly tenant: string; readonly keyId?: string | undefined; readonly userId?: string | undefined; readonly apiKey?: undefined }
  | { readonly apiKey: string; readonly userId?: string | undefined; readonly tenant?: undefined }
  /** The `anonymous` tier, counted by address: give one, or all such callers share a counter. */
  | { readonly tenant?: undefined; readonly apiKey?: undefined };

/** A call to be decided: a job, an outbound request, a command. */
export type LimiterCall = LimiterCaller & {
  /** Slug of the endpoint class; default `default`. */
  readonly endpointClass?: string;
  /** Whole units, 0 or more; 0 looks without spending. Default: the class's cost. */
  readonly cost?: number;
  /** What limits with `methods` compare; default `CALL`, which none names. */
  readonly method?: string;
  /** What limits per route count by, such as `/users/:id`: a template, never a path. Default `*`. */
  readonly route?: string;
  /** Address of the caller, for limits of scope `ip`. */
  readonly address?: string;
  /** By name, for limits of scope `subject:<name>`. */
  readonly subjects?: Readonly<Record<string, string>>;
  /** Holds until the platform's catalogue of classes was seen; default the option `failMode`. */
  readonly failMode?: FailMode;
  /** Holds one slot of the tenant's concurrency until `release` of the decision is called. */
  readonly holdsSlot?: boolean;
};

/** Looks an API key up, as in a request. */
interface KeyResolver {
  resolve(request: GuardedRequest): Identity | Promise<Identity>;
}

/** A call in the shape in which all calls are decided. */
export async function arrivalOf(call: LimiterCall, apiKeys: KeyResolver): Promise<Arrival> {
  const arrivedAtMs = performance.now();
  const request = requestOf(call);
  const subjects = Object.entries(call.subjects ?? {}).map(([name, subject]) => ({ name, subjectOf: () => subject }));
  return {
    request,
    rules: {
      ...PLAIN_RULES,
      endpointClass: { slug: call.endpointClass ?? PLAIN_RULES.endpointClass.slug, failMode: call.failMode },
      cost: call.cost,
      subjects,
      holdsSlot: call.holdsSlot ?? false,
    },
    identity: await identityOf(call, request, apiKeys),
    arrivedAtMs,
  };
}

function requestOf(call: LimiterCall): GuardedRequest & { readonly routeOptions: { readonly url?: string | undefined } } {
  return {
    method: call.method ?? 'CALL',
    url: call.route ?? '',
    headers: call.apiKey === undefined ? {} : { [API_KEY_HEADER.toLowerCase()]: call.apiKey, [USER_ID_HEADER.toLowerCase()]: call.userId },
    params: {},
    query: {},
    body: undefined,
    socket: { remoteAddress: call.address },
    routeOptions: { url: call.route },
  };
}

function identityOf(call: LimiterCall, request: GuardedRequest, apiKeys: KeyResolver): Identity | Promise<Identity> {
  if (call.apiKey !== undefined) return apiKeys.resolve(request);
  if (call.tenant === undefined) return { kind: 'anonymous' };
  return { kind: 'tenant', tenant: call.tenant, keyId: call.keyId, userId: call.userId };
}
