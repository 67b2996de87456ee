import type { ResponseField } from './ratelimit-fields';

/** The part of Node's `ServerResponse` by which a head is written. */
export interface HeadedResponse {
  setHeader(name: string, value: string): unknown;
  getHeaderNames(): string[];
  writeHead(statusCode: number, ...rest: unknown[]): unknown;
}

/** Fields that wait for their answer's head. */
interface Joining {
  fields: readonly ResponseField[];
  readonly writeHead: HeadedResponse['writeHead'];
}
const JOINING = Symbol('quotaplane:fields');
type JoinedResponse = HeadedResponse & { [JOINING]?: Joining };

const lowerNames = new Map<string, string>();
/** Names are a handful of constants. */
function lowerOf(name: string): string {
  let lower = lowerNames.get(name);
  if (lower === undefined) lowerNames.set(name, (lower = name.toLowerCase()));
  return lower;
}

/** What was put on an answer by {@link joinHead} so far. */
export const joiningFields = (response: HeadedResponse): readonly ResponseField[] | undefined => (response as JoinedResponse)[JOINING]?.fields;

/**
 * Lets fields join the head of an answer when it is written, whoever writes it: the framework, a handler with the raw response, Node itself at the first
 * byte. They are on it whatever comes after, as with `setHeader`; but that makes Node take all the framework's own fields one by one, too, which costs
 * as much as everything else a guard does around its decision.
 */
export function joinHead(response: HeadedResponse, fields: readonly ResponseField[]): void {
  const joined = response as JoinedResponse;
  const earlier = joined[JOINING];
  if (earlier) {
    earlier.fields = fields;
    return;
  }
  joined[JOINING] = { fields, writeHead: joined.writeHead };
  joined.writeHead = writeJoinedHead;
}

function writeJoinedHead(this: JoinedResponse, statusCode: number, ...rest: unknown[]): unknown {
  const joining = this[JOINING];
  if (!joining) throw new TypeError('the head of an answer that nothing joins');
  // A reason may stand before the headers.
  const headers = rest.at(-1);
  if (isRecord(headers) && this.getHeaderNames().length === 0) {
    for (const [name, value] of joining.fields) if (!(lowerOf(name) in headers)) headers[name] = value;
  } else {
    for (const [name, value] of joining.fields) this.setHeader(name, value);
  }
  return joining.writeHead.call(this, statusCode, ...rest);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
