import {
  CSRF_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  type RouteAnswer,
  type RouteBody,
  type RouteContract,
  type RouteId,
  type RouteQuery,
  type routes,
} from '@quotaplane/contracts';
import { ApiProblem, toApiProblem } from './api-problem';
import { CALLS } from './contract.facts';

type Contract<Id extends RouteId> = (typeof routes)[Id];
type PathName<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathName<Rest> : never;
type Params<Path> = [PathName<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<PathName<Path>, string>> };
type Body<R extends RouteContract> = RouteBody<R> extends undefined ? { readonly body?: undefined } : { readonly body: RouteBody<R> };
type Version<R> = R extends { readonly ifMatch: true } ? { readonly ifVersion: number } : { readonly ifVersion?: undefined };
type Replay<R> = R extends { readonly idempotent: true } ? { readonly idempotencyKey?: string } : { readonly idempotencyKey?: undefined };

/** What one call needs, by the route's contract: nothing more can be passed and nothing less. */
export type CallInput<Id extends RouteId> = Params<Contract<Id>['path']> &
  Body<Contract<Id>> &
  Version<Contract<Id>> &
  Replay<Contract<Id>> & {
    readonly query?: RouteQuery<Contract<Id>>;
    readonly signal?: AbortSignal;
  };

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly ifVersion?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/**
 * Calls one endpoint of the contract with the session cookie.
 * @throws {ApiProblem} for every answer that is not a success, and when none came
 */
export async function call<Id extends RouteId>(id: Id, input: CallInput<Id>): Promise<RouteAnswer<Contract<Id>>> {
  const facts = CALLS[id];
  const given: AnyInput = input;
  const response = await send(urlOf(id, given), {
    method: facts.method,
    headers: headersOf(facts, given),
    body: given.body === undefined ? undefined : JSON.stringify(given.body),
    signal: given.signal,
    credentials: 'same-origin',
  });
  if (!response.ok) throw await toApiProblem(response);
  return trusted<Id>(response.status === 204 ? undefined : await readJson(response));
}

/** Address of an endpoint with its path and query filled in; also for plain links such as an export. */
export function urlOf(id: RouteId, { params = {}, query = {} }: Pick<AnyInput, 'params' | 'query'>): string {
  const path = CALLS[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

function headersOf({ method, isIdempotent }: (typeof CALLS)[RouteId], { body, ifVersion, idempotencyKey }: AnyInput): Record<string, string> {
  return {
    Accept: 'application/json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(method === 'GET' ? {} : { [CSRF_HEADER]: '1' }),
    ...(ifVersion === undefined ? {} : { 'If-Match': `"${ifVersion}"` }),
    ...(isIdempotent ? { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey ?? randomKey() } : {}),
  };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    // A call the console itself gave up is no failure to show.
    if (init.signal?.aborted) throw cause;
    throw new ApiProblem('network', 'The control plane did not answer.', 0, null, [], null, { cause });
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new ApiProblem('unreadable', 'The answer was not readable.', response.status, response.headers.get('x-request-id'), [], null, { cause });
  }
}

/** The API serialises every answer through this same contract schema, so the shape is known without checking it twice. */
function trusted<Id extends RouteId>(answer: unknown): RouteAnswer<Contract<Id>> {
  return answer as RouteAnswer<Contract<Id>>;
}

/** 128 random bits as hex; `randomUUID` is missing where the console is served over plain HTTP. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
