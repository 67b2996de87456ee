/** How an answer ended. */
export interface CallOutcome {
  /** Status that was sent; outside of HTTP 200, the error's own status, or 500. */
  readonly statusCode: number;
  /** The caller went away before the whole answer was sent. */
  readonly isAborted: boolean;
}
export type OnCallEnd = (outcome: CallOutcome) => void;

/** The part of Node's `ServerResponse` that tells its end. */
export interface EndingResponse {
  readonly statusCode: number;
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  /** The request that is answered; its connection may end while a pipelined answer still waits for its turn. */
  readonly req?: { readonly socket?: EventSource | null | undefined } | undefined;
  once(event: 'finish' | 'close', listener: () => void): unknown;
  off(event: 'finish' | 'close', listener: () => void): unknown;
}
interface EventSource {
  readonly destroyed?: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** The answers under way on each connection. One listener serves them all: a client that pipelines eleven calls would make Node warn of a leak. */
const underWay = new WeakMap<EventSource, Set<() => void>>();

function answersOn(socket: EventSource): Set<() => void> {
  const known = underWay.get(socket);
  if (known) return known;
  const answers = new Set<() => void>();
  underWay.set(socket, answers);
  socket.once('close', () => {
    for (const end of answers) end();
  });
  return answers;
}

/**
 * Calls `onEnd` exactly once when an answer has ended: sent in full (streams, HEAD and thrown errors too), or cut off because the caller went away.
 * At once where it has ended before. Fastify's reply and Express's response both do.
 */
export function onResponseEnd(response: EndingResponse | { readonly raw: EndingResponse }, onEnd: OnCallEnd): void {
  const raw = 'raw' in response ? response.raw : response;
  // HTTP/2 shares one connection among many answers and forbids much of its face; each of those closes by itself.
  const socket = raw.req && 'httpVersionMajor' in raw.req && raw.req.httpVersionMajor === 2 ? undefined : raw.req?.socket;
  const answers = socket && socket.destroyed !== true ? answersOn(socket) : undefined;
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    raw.off('finish', end);
    raw.off('close', end);
    // Kept alive, a connection outlives its answers by thousands.
    answers?.delete(end);
    onEnd({ statusCode: raw.statusCode, isAborted: !raw.writableFinished });
  };
  if (raw.writableFinished || raw.destroyed || socket?.destroyed === true) return end();
  raw.once('finish', end);
  raw.once('close', end);
  answers?.add(end);
}
