import { GUARD_HEADERS } from '@quotaplane/contracts';
import type { ResponseField } from './ratelimit-fields';

interface RawAnswer {
  setHeader(name: string, value: string): unknown;
  getHeader(name: string): unknown;
  readonly headersSent: boolean;
}
/** Fastify keeps headers of its own beside the raw answer's; the two are joined when the head is written. */
interface FastifyAnswer {
  readonly raw: RawAnswer;
  header(name: string, value: string): unknown;
  getHeader(name: string): unknown;
}

/**
 * The answer of one request, on Fastify and on Express. Fields go to the raw answer before the handler runs, so that they are on it whatever
 * comes after: a thrown error, a 404, a stream.
 */
export class Answer {
  private readonly raw: RawAnswer;

  constructor(private readonly answer: FastifyAnswer | RawAnswer) {
    this.raw = 'raw' in answer ? answer.raw : answer;
  }

  set(fields: readonly ResponseField[]): void {
    if (this.raw.headersSent) return;
    for (const [name, value] of fields) this.raw.setHeader(name, value);
  }

  /** Adds to what the service's own CORS settings expose, instead of replacing it. */
  expose(names: string): void {
    if (this.raw.headersSent) return;
    const own = this.answer.getHeader(GUARD_HEADERS.expose);
    const joined = typeof own === 'string' && own !== '' ? `${own}, ${names}` : names;
    // The framework sets this one too: its own copy would win over the raw one.
    if ('raw' in this.answer) this.answer.header(GUARD_HEADERS.expose, joined);
    else this.answer.setHeader(GUARD_HEADERS.expose, joined);
  }
}
