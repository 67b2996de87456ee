import { API_KEY_HEADER } from '@quotaplane/contracts';

export interface EchoTally {
  /** Admitted by the store's own count, which is exact. */
  readonly admitted: number;
  readonly denied: number;
  /** Decided without the store, as the answer says: on a machine too busy for the guard's deadline. The ledger waives them. */
  readonly degraded: number;
  /** RateLimit-Policy of the last answer. */
  readonly policy: string;
  readonly tookMs: number;
}

/** Sends `count` calls, eight at a time, in turn to each echo; what was admitted is counted here, at the client. */
export async function callEcho(urls: readonly string[], key: string, count: number): Promise<EchoTally> {
  const startedAt = performance.now();
  const seen = { admitted: 0, denied: 0, degraded: 0, policy: '' };
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < count) {
      const url = urls[sent % urls.length] ?? '';
      sent += 1;
      const answer = await fetch(`${url}/echo`, { headers: { [API_KEY_HEADER]: key } });
      await answer.arrayBuffer();
      if (answer.headers.has('RateLimit-Source')) seen.degraded += 1;
      else if (answer.status === 200) seen.admitted += 1;
      else if (answer.status === 429) seen.denied += 1;
      else throw new TypeError(`echo answered ${answer.status}`);
      seen.policy = answer.headers.get('RateLimit-Policy') ?? '';
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return { ...seen, tookMs: performance.now() - startedAt };
}

/** The burst that a service says it enforces now, read from its answer's headers. */
export async function burstOf(url: string, key: string): Promise<number | undefined> {
  const { policy } = await callEcho([url], key, 1);
  const burst = /"per-minute"[^,]*;qp-burst=(\d+)/.exec(policy)?.[1];
  return burst === undefined ? undefined : Number(burst);
}
