import { Agent, request, type IncomingHttpHeaders } from 'node:http';

const keptAlive = new Agent({ keepAlive: true, maxSockets: 200 });
/** A call that takes this long hangs. */
const HANG_MS = 30_000;

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `X-Api-Key` */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, said to be JSON; for bodies that are none. */
  readonly text?: string;
  /** A connection of its own instead of a kept one. */
  readonly isOnOwnConnection?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The key that was sent. */
  readonly key: string | undefined;
  /** Wall clock, epoch ms. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** Monotonic, to the last byte. */
  readonly tookMs: number;
}

/** One HTTP call with the plain client of Node, cheap enough to measure single milliseconds. Rejects when no answer came. */
export function call(url: string, options: CallOptions = {}): Promise<Answer> {
  const text = options.body === undefined ? options.text : JSON.stringify(options.body);
  const headers = {
    ...(options.key === undefined ? {} : { 'x-api-key': options.key }),
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const sentAt = Date.now();
    const startedAt = performance.now();
    const outgoing = request(url, { method: options.method ?? 'GET', headers, agent: options.isOnOwnConnection ? false : keptAlive, timeout: HANG_MS }, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (piece) => (body += piece));
      incoming.once('error', reject);
      incoming.once('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body, key: options.key, sentAt, receivedAt: Date.now(), tookMs: performance.now() - startedAt }),
      );
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer from ${url} within ${HANG_MS} ms`)));
    outgoing.once('error', reject);
    outgoing.end(text);
  });
}

/** Makes `total` calls, at most `atOnce` under way at any time; answers in the order of their making. */
export async function flood<T>(total: number, atOnce: number, send: (index: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = new Array(total);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) {
      const index = next++;
      answers[index] = await send(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, total) }, lane));
  return answers;
}

/** The header as one text; '' when the answer has none. */
export function headerOf(answer: Pick<Answer, 'headers'>, name: string): string {
  const value = answer.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}
