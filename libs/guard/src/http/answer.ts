import { ServerResponse } from 'node:http';
import { GUARD_HEADERS, LEGACY_HEADERS } from '@quotaplane/contracts';
import type { CallAnswer } from '../limiter/call-answer';
import { joinHead, joiningFields, type HeadedResponse } from './joining-fields';
import type { ResponseField } from './ratelimit-fields';
import { onResponseEnd, type EndingResponse, type OnCallEnd } from './response-end';

interface RawAnswer extends EndingResponse, HeadedResponse {
  getHeader(name: string): unknown;
  hasHeader(name: string): boolean;
  removeHeader(name: string): void;
  readonly headersSent: boolean;
  destroy(): unknown;
}
/** Fastify keeps headers of its own beside the raw answer's; the two are joined when the head is written. */
interface FastifyAnswer {
  readonly raw: RawAnswer;
  header(name: string, value: string): unknown;
  getHeader(name: string): unknown;
}
export type HttpAnswer = FastifyAnswer | RawAnswer;

const { policy, state, limit, remaining, reset, retryAfter, source, cacheControl } = GUARD_HEADERS;
const OWN_FIELDS: readonly string[] = [policy, state, limit, remaining, reset, retryAfter, source, cacheControl, ...Object.values(LEGACY_HEADERS)];

/** Fields of a decision with what stays of those before it. */
function overEarlier(earlier: readonly ResponseField[] | undefined, fields: readonly ResponseField[]): readonly ResponseField[] {
  if (earlier === undefined) return fields;
  // An earlier decision may have said more, such as that it was made without the store.
  const isReplaced = earlier.some(isOfDecision) && fields.some(isOfDecision);
  return [...earlier.filter(([name]) => !(isReplaced && OWN_FIELDS.includes(name)) && fields.every(([other]) => other !== name)), ...fields];
}

const isOfDecision = ([name]: ResponseField): boolean => name === policy || name === source;

/**
 * The answer of one request, on Fastify and on Express. Fields are put on the raw answer before the handler runs, so that they are on it whatever
 * comes after: a thrown error, a 404, a stream.
 */
export class Answer implements CallAnswer {
  private readonly raw: RawAnswer;
  /** Its fields join the head when it is written, instead of being set at once. */
  private readonly joins: boolean;

  constructor(private readonly answer: HttpAnswer) {
    this.raw = 'raw' in answer ? answer.raw : answer;
    // Fastify hands all its own fields over with the head; Express has set some by now, and the answers of HTTP/2 write heads in a way of their own.
    this.joins = 'raw' in answer && answer.raw instanceof ServerResponse;
  }

  /** Puts the fields of a decision on the answer, in place of those of an earlier decision on the same request. A 401 has none: the early ones stay. */
  set(fields: readonly ResponseField[]): void {
    if (this.raw.headersSent) return;
    if (this.joins) joinHead(this.raw, overEarlier(joiningFields(this.raw), fields));
    else this.setOneByOne(fields);
  }

  private setOneByOne(fields: readonly ResponseField[]): void {
    // An earlier decision may have said more, such as that it was made without the store.
    if ((this.raw.hasHeader(policy) || this.raw.hasHeader(source)) && fields.some(isOfDecision)) for (const name of OWN_FIELDS) this.raw.removeHeader(name);
    for (const [name, value] of fields) this.raw.setHeader(name, value);
  }

  /** Adds to what the service's own CORS settings expose, instead of replacing it. */
  expose(names: string): void {
    if (this.raw.headersSent) return;
    const own = this.answer.getHeader(GUARD_HEADERS.expose);
    if (typeof own === 'string' && own.includes(names)) return;
    const joined = typeof own === 'string' && own !== '' ? `${own}, ${names}` : names;
    // The framework sets this one too: its own copy would win over the raw one.
    if ('raw' in this.answer) this.answer.header(GUARD_HEADERS.expose, joined);
    else this.answer.setHeader(GUARD_HEADERS.expose, joined);
  }

  /** Exactly once, when the answer was sent in full or was cut off. */
  onEnd(listener: OnCallEnd): void {
    onResponseEnd(this.raw, listener);
  }

  cut(): void {
    this.raw.destroy();
  }
}
