import { API_KEY_HEADER, USER_ID_HEADER } from '@quotaplane/contracts';
import type { EndpointClassMark, FailMode } from '../decorators';
import { PLAIN_RULES, type HandlerRules } from '../handler-rules';
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

const KEY_HEADER = API_KEY_HEADER.toLowerCase();
const USER_HEADER = USER_ID_HEADER.toLowerCase();
const NO_SUBJECTS: HandlerRules['subjects'] = [];
const NOTHING = {};

/** A call in the shape in which all calls are decided. */
export function arrivalOf(call: LimiterCall, apiKeys: KeyResolver): Arrival | Promise<Arrival> {
  const arrivedAtMs = performance.now();
  const request = requestOf(call);
  const identity = identityOf(call, request, apiKeys);
  const rules = rulesOf(call);
  if (identity instanceof Promise) return identity.then((found) => ({ request, rules, identity: found, arrivedAtMs }));
  return { request, rules, identity, arrivedAtMs };
}

function rulesOf({ endpointClass, failMode, cost, subjects, holdsSlot = false }: LimiterCall): HandlerRules {
  return { isSkipped: false, endpointClass: markOf(endpointClass ?? PLAIN_RULES.endpointClass.slug, failMode), cost, subjects: subjects ? subjectMarks(subjects) : NO_SUBJECTS, holdsSlot };
}

const subjectMarks = (subjects: Readonly<Record<string, string>>): HandlerRules['subjects'] =>
  Object.entries(subjects).map(([name, subject]) => ({ name, subjectOf: () => subject }));

/** Marks by class, where no fail mode is named: the same one for all calls of a class, for what is made once for each. */
const marks = new Map<string, EndpointClassMark>();
/** Classes are bounded by the service's own code, but a service that makes them up must not collect them. */
const MARKS_MAX = 1000;

function markOf(slug: string, failMode: FailMode | undefined): EndpointClassMark {
  if (failMode !== undefined) return { slug, failMode };
  let mark = marks.get(slug);
  if (mark === undefined) {
    if (marks.size >= MARKS_MAX) marks.clear();
    marks.set(slug, (mark = { slug, failMode }));
  }
  return mark;
}

function requestOf(call: LimiterCall): GuardedRequest & { readonly routeOptions: { readonly url?: string | undefined } } {
  return {
    method: call.method ?? 'CALL',
    url: call.route ?? '',
    headers: call.apiKey === undefined ? NOTHING : { [KEY_HEADER]: call.apiKey, [USER_HEADER]: call.userId },
    params: NOTHING,
    query: NOTHING,
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
