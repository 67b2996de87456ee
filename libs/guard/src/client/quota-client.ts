import { Pacer, routeOf } from './pacer';
import { pauseUntil } from './pause';
import { readLimits } from './read-limits';

/** Called as `fetch` is, and answers as it does: a denial that was not waited out is an answer, never an error. */
export type QuotaFetch = typeof fetch;

/** A wait that begins now. `limited`: told by a 429; `reduced`: told by a 503, with jitter; `paced`: before a call that would be denied. */
export interface QuotaWait {
  readonly reason: 'limited' | 'reduced' | 'paced';
  readonly waitMs: number;
  readonly url: string;
  /** Sends of this call so far. */
  readonly sent: number;
}

export interface QuotaClientOptions {
  /** Default: the global one. */
  readonly fetch?: QuotaFetch;
  /** Most times a denied call is sent again; default 3. */
  readonly maxRetries?: number;
  /** Longest that one call waits in all, ms; default 60,000. A longer wait is not begun: the denial is the answer. */
  readonly maxWaitMs?: number;
  /** Ends every call of this client, waits too, with the signal's reason. A call's own signal ends that call. */
  readonly signal?: AbortSignal;
  /** Monotonic ms; default `performance.now()`. */
  readonly now?: () => number;
  readonly onWait?: (wait: QuotaWait) => void;
  /** Also holds back calls that the last answers say would be denied; default false. */
  readonly pace?: boolean;
}

const REPEATABLE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'];

/**
 * A `fetch` that waits as it is told. After 429 and 503 it waits as long as Retry-After says, never less, and sends again: what may be sent twice by its
 * method, and anything that carries an Idempotency-Key, except a body that is a stream. On 503 it adds up to as much again, so that not everybody comes
 * back at once. 403 and 422 are answers: waiting cannot help. No dependency; browsers and Node 20.
 * @see docs/consuming-the-api.md
 */
export function createQuotaClient(options: QuotaClientOptions = {}): QuotaFetch {
  const { maxRetries = 3, maxWaitMs = 60_000, now = () => performance.now(), onWait } = options;
  const pacer = options.pace ? new Pacer() : undefined;

  return async (input, init) => {
    const send = options.fetch ?? fetch;
    const request = input instanceof Request ? input : undefined;
    const url = request?.url ?? String(input);
    const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
    const signal = joined([options.signal, init?.signal ?? request?.signal]);
    const isRepeatable = mayRepeat(method, new Headers(init?.headers ?? request?.headers), init?.body);
    const route = pacer && routeOf(method, url);
    let leftMs = maxWaitMs;

    const wait = async (reason: QuotaWait['reason'], waitMs: number, sent: number): Promise<void> => {
      const untilMs = now() + waitMs;
      leftMs -= waitMs;
      onWait?.({ reason, waitMs: Math.ceil(waitMs), url, sent });
      await pauseUntil(untilMs, now, signal);
    };

    for (let sent = 0; ; ) {
      if (pacer && route !== undefined) {
        for (let holdMs = pacer.holdMs(route, now()); holdMs > 0 && holdMs <= leftMs; holdMs = pacer.holdMs(route, now())) await wait('paced', holdMs, sent);
      }
      // A request's body can be read once; a copy leaves it for the next time.
      const response = await send(request && isRepeatable ? request.clone() : input, signal ? { ...init, signal } : init);
      sent += 1;
      const reading = readLimits(response);
      if (route !== undefined) pacer?.saw(route, reading, now());
      const told = toldWait(response.status, reading.retryAfterMs);
      if (!told || !isRepeatable || sent > maxRetries || told.waitMs > leftMs) return response;
      // Frees the connection; the wait has begun with the answer, not with the end of its body.
      response.body?.cancel().catch(() => undefined);
      await wait(told.reason, told.waitMs, sent);
    }
  };
}

function toldWait(status: number, retryAfterMs: number | undefined): Pick<QuotaWait, 'reason' | 'waitMs'> | undefined {
  if (retryAfterMs === undefined) return undefined;
  if (status === 429) return { reason: 'limited', waitMs: retryAfterMs };
  if (status === 503) return { reason: 'reduced', waitMs: retryAfterMs * (1 + Math.random()) };
  return undefined;
}

/** A stream has been read when it would be sent again. */
function mayRepeat(method: string, headers: Headers, body: unknown): boolean {
  const isStream = typeof body === 'object' && body !== null && ('getReader' in body || Symbol.asyncIterator in body);
  return !isStream && (REPEATABLE_METHODS.includes(method) || headers.has('Idempotency-Key'));
}

function joined(signals: readonly (AbortSignal | null | undefined)[]): AbortSignal | undefined {
  const present = signals.filter((signal) => signal !== null && signal !== undefined);
  return present.length > 1 ? AbortSignal.any(present) : present[0];
}
