/**
 * The client that /limits shows, for any browser or Node 20: one function, no dependency. A spec takes it out of the page and runs it against a
 * guarded service. Typed, and with pacing, it is `createQuotaClient` of `@quotaplane/guard/client`.
 */
export const COPYABLE_CLIENT = `// fetch that waits as told: a lone client is never denied twice for the same call.
export async function quotaFetch(url, init = {}, { maxRetries = 3, maxWaitMs = 60_000 } = {}) {
  const method = (init.method ?? 'GET').toUpperCase();
  // A 503 can come from behind the limiter, when the call has taken effect: send such calls again only under a key.
  const isRepeatable = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'].includes(method)
    || new Headers(init.headers).has('Idempotency-Key');
  let leftMs = maxWaitMs;
  for (let retry = 0; ; retry += 1) {
    const response = await fetch(url, init);
    // Only 429 and 503 tell a wait; after 403 and 422 waiting cannot help.
    const isDenied = response.status === 429 || response.status === 503;
    const toldMs = isDenied ? Number(response.headers.get('Retry-After')) * 1000 : 0;
    // 429 is exact. 503 is a hint for everybody: spread out.
    const waitMs = response.status === 503 ? toldMs * (1 + Math.random()) : toldMs;
    if (!isRepeatable || retry >= maxRetries || !(waitMs > 0 && waitMs <= leftMs)) return response;
    await response.body?.cancel();
    leftMs -= waitMs;
    const resumeAt = performance.now() + waitMs;
    // A timer may fire a moment early; a call sent early is denied again.
    for (let left = waitMs; left > 0; left = resumeAt - performance.now()) {
      await new Promise((wake) => setTimeout(wake, Math.min(left, 2147483647)));
    }
    init.signal?.throwIfAborted();
  }
}
`;
