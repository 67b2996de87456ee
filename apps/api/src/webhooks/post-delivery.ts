import { request as requestPlain, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ResolvedAddress } from './receiver-address';

/** Most of an answer's body that is read; it says nothing that counts. */
export const ANSWER_MAX_BYTES = 16_384;

export interface Posted {
  /** Null where there was no answer. */
  readonly status: number | null;
  readonly error: string | null;
  readonly retryAfter: string | undefined;
  readonly tookMs: number;
}

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Where the connection goes; the name is not resolved again. */
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
}

/** Sends once. Redirects are not followed: they would lead past the check of the address. Never rejects; an outage is an answer without a status. */
export async function post(message: Post): Promise<Posted> {
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const answer = await answerTo(message);
    const status = answer.statusCode ?? 0;
    await drain(answer);
    return { status, error: status >= 200 && status < 300 ? null : `answered ${status}`, retryAfter: answer.headers['retry-after'], tookMs: tookMs() };
  } catch (error) {
    return { status: null, error: reasonOf(error, message.signal), retryAfter: undefined, tookMs: tookMs() };
  }
}

function answerTo({ url, headers, body, addresses, signal }: Post): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: 'POST',
    // No connection is kept: a pooled one is found by name, not by the address that was judged.
    agent: false,
    lookup: lookupAmong(addresses),
    signal,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'user-agent': 'Quotaplane-Webhooks/1' },
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = url.protocol === 'https:' ? requestTls(url, options) : requestPlain(url, options);
    request.on('response', resolve).on('error', reject).end(body);
  });
}

/** Answers with what was judged. Not asked for where the host is an address: that is judged itself, and connected to as it is. */
const lookupAmong = (addresses: readonly ResolvedAddress[]): LookupFunction => (_hostname, { all }, found) => {
  if (all === true) found(null, addresses.map((address) => ({ ...address })));
  else found(null, addresses[0]?.address ?? '', addresses[0]?.family);
};

/** Reads on until the end, the cap or the time limit; the status stands whatever comes of it. */
async function drain(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_MAX_BYTES) break;
    }
  } catch {
    // The receiver has answered; how its body ends is its own affair.
  } finally {
    answer.destroy();
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return signal.reason instanceof Error && signal.reason.name === 'TimeoutError' ? 'did not answer in time' : 'was cut off';
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return `cannot be reached (${error.code})`;
  return 'cannot be reached';
}
