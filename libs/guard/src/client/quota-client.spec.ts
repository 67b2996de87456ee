import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createQuotaClient, type QuotaClientOptions, type QuotaWait } from './quota-client';

const URL_OF = 'https://api.example.com/things';

interface Sent {
  readonly atMs: number;
  readonly method: string;
  readonly body: string;
}

/** Answers in turn, the last one for ever; remembers what was sent and when. */
function serverOf(...answers: readonly { readonly status: number; readonly headers?: Record<string, string> }[]) {
  const sent: Sent[] = [];
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    sent.push({ atMs: performance.now(), method: request.method, body: await request.text() });
    return new Response(answer?.status === 204 ? null : '{}', { status: answer?.status ?? 200, headers: answer?.headers ?? {} });
  };
  return { sent, send };
}
const denied = (seconds: number, status = 429) => ({ status, headers: { 'Retry-After': String(seconds) } });
const ok = { status: 200 };

describe('a client that waits as told', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Runs one call to its end, however long it waits. */
  const run = async (options: QuotaClientOptions, server: ReturnType<typeof serverOf>, init?: RequestInit, input: string | Request = URL_OF) => {
    const waits: QuotaWait[] = [];
    const startedAt = performance.now();
    const call = createQuotaClient({ fetch: server.send, onWait: (wait) => waits.push(wait), ...options })(input, init);
    const settled = call.then((response) => response.status, (error: unknown) => error);
    await vi.runAllTimersAsync();
    return { status: await settled, waits, tookMs: performance.now() - startedAt, gapsMs: server.sent.map(({ atMs }) => atMs - startedAt) };
  };

  // Fails when the wait is shortened, or when jitter is added to a 429.
  it('sends again exactly after Retry-After of a 429, never earlier and without jitter', async () => {
    const random = vi.spyOn(Math, 'random');
    const { status, gapsMs, waits } = await run({}, serverOf(denied(7), ok));
    expect([status, gapsMs]).toEqual([200, [0, 7000]]);
    expect(waits).toEqual([{ reason: 'limited', waitMs: 7000, url: URL_OF, sent: 1 }]);
    expect(random).not.toHaveBeenCalled();
  });

  // Fails when pauseUntil trusts the timer instead of the clock.
  it('does not trust a timer that fires early', async () => {
    const server = serverOf(denied(1), ok);
    let nowMs = 0;
    const now = (): number => nowMs;
    const call = createQuotaClient({ fetch: server.send, now })(URL_OF);
    nowMs = 0;
    await vi.advanceTimersByTimeAsync(1000);
    nowMs = 999.4;
    await vi.advanceTimersByTimeAsync(1);
    expect(server.sent.length).toBe(1);
    nowMs = 1000;
    await vi.advanceTimersByTimeAsync(1000);
    expect((await call).status).toBe(200);
    expect(server.sent.length).toBe(2);
  });

  it('adds up to as much again on a 503, never less', async () => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5);
    expect((await run({}, serverOf(denied(4, 503), denied(4, 503), ok))).gapsMs).toEqual([0, 4000, 10_000]);
  });

  it.each([[403, 5], [422, 5], [401, 5], [500, 5]])('takes %i for an answer, even with a Retry-After', async (status, seconds) => {
    const server = serverOf(denied(seconds, status));
    expect((await run({}, server)).status).toBe(status);
    expect(server.sent.length).toBe(1);
  });

  it('takes a 429 that tells no wait for an answer', async () => {
    expect((await run({}, serverOf({ status: 429 }))).gapsMs).toEqual([0]);
  });

  // Fails when POST counts as repeatable, or when the key is not looked for.
  it.each([
    ['POST', {}, 1], ['PATCH', {}, 1], ['POST', { 'Idempotency-Key': 'k1' }, 2], ['PATCH', { 'idempotency-key': 'k1' }, 2], ['PUT', {}, 2], ['delete', {}, 2], ['HEAD', {}, 2],
  ])('sends %s with %o %i time(s)', async (method, headers, times) => {
    const server = serverOf(denied(1), ok);
    await run({}, server, { method, headers });
    expect(server.sent.length).toBe(times);
  });

  it('sends the same body again, of a call and of a Request', async () => {
    const headers = { 'Idempotency-Key': 'k' };
    const [plain, request] = [serverOf(denied(1), ok), serverOf(denied(1), ok)];
    await run({}, plain, { method: 'POST', headers, body: 'one' });
    await run({}, request, undefined, new Request(URL_OF, { method: 'POST', headers, body: 'two' }));
    expect([plain.sent.map(({ body }) => body), request.sent.map(({ body }) => body)]).toEqual([['one', 'one'], ['two', 'two']]);
  });

  it('sends a stream once, for it has been read then', async () => {
    const server = serverOf(denied(1), ok);
    const init = { method: 'PUT', body: new Blob(['x']).stream(), duplex: 'half' } as RequestInit;
    expect((await run({}, server, init)).status).toBe(429);
  });

  it('gives up after maxRetries', async () => {
    const server = serverOf(denied(1));
    expect((await run({ maxRetries: 2 }, server)).status).toBe(429);
    expect(server.sent.length).toBe(3);
  });

  // Fails when the cap holds for each wait instead of for all waits of a call.
  it('begins no wait that would pass maxWaitMs in all, and says so at once', async () => {
    const { status, gapsMs, tookMs } = await run({ maxWaitMs: 10_000, maxRetries: 9 }, serverOf(denied(6), denied(4), denied(1), ok));
    expect([status, gapsMs, tookMs]).toEqual([429, [0, 6000, 10_000], 10_000]);
    expect((await run({}, serverOf(denied(61)))).tookMs).toBe(0);
  });

  it.each(['call', 'client'] as const)('ends a wait when the signal of the %s aborts, with its reason', async (whose) => {
    const controller = new AbortController();
    const server = serverOf(denied(50), ok);
    const other = new AbortController().signal;
    const client = createQuotaClient({ fetch: server.send, signal: whose === 'client' ? controller.signal : other });
    const call = client(URL_OF, { signal: whose === 'call' ? controller.signal : other }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    controller.abort(new RangeError('enough'));
    expect(await call).toEqual(new RangeError('enough'));
    expect([server.sent.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  // Fails when pause.ts leaves its listener behind: a client's signal lives as long as the service that holds it.
  it('leaves nothing on the signal of a client when a wait is over', async () => {
    const { signal } = new AbortController();
    const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    const fetchOf = serverOf(denied(1), denied(1), ok);
    await run({ signal, fetch: () => fetchOf.send(URL_OF) }, fetchOf);
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([2, 2]);
  });

  describe('and paces itself', () => {
    const state = (r: number, t: number, status = 200) => ({ status, headers: { RateLimit: `"per-minute";r=${r};t=${t};pk=:AA==:;qp-cost=1`, 'RateLimit-Policy': '"per-minute";q=60;w=60' } });

    const calls = async (server: ReturnType<typeof serverOf>, count: number, options: QuotaClientOptions = { pace: true }) => {
      const client = createQuotaClient({ fetch: server.send, ...options });
      const startedAt = performance.now();
      const all = (async () => {
        for (let call = 0; call < count; call += 1) await client(URL_OF);
      })();
      await vi.runAllTimersAsync();
      await all;
      return server.sent.map(({ atMs }) => atMs - startedAt);
    };

    it('holds a call back until there are units again', async () => {
      expect(await calls(serverOf(state(1, 1), state(0, 3), state(5, 1)), 3)).toEqual([0, 0, 3000]);
    });

    it('does so only when asked to', async () => {
      expect(await calls(serverOf(state(0, 3)), 2, {})).toEqual([0, 0]);
    });

    it('sends at once where the hold would pass maxWaitMs: the answer then says what to do', async () => {
      expect(await calls(serverOf(state(0, 3000)), 2)).toEqual([0, 0]);
    });

    it('counts calls under way in, so that not all pass that start together', async () => {
      const server = serverOf(state(2, 4), state(0, 4), state(0, 4), state(9, 1));
      const client = createQuotaClient({ fetch: server.send, pace: true });
      const startedAt = performance.now();
      await client(URL_OF);
      const all = Promise.all([client(URL_OF), client(URL_OF), client(URL_OF)]);
      await vi.runAllTimersAsync();
      await all;
      expect(server.sent.map(({ atMs }) => atMs - startedAt)).toEqual([0, 0, 0, 4000]);
    });

    // Fails when the wait is told as the clock gives it, such as 995.1436299999999 ms.
    it('tells its waits in whole ms, never less than it waits', async () => {
      const waits: number[] = [];
      let nowMs = 0.25;
      const client = createQuotaClient({ fetch: serverOf(state(0, 1), state(9, 1)).send, pace: true, now: () => nowMs, onWait: ({ waitMs }) => waits.push(waitMs) });
      await client(URL_OF);
      nowMs = 0.5;
      const second = client(URL_OF);
      nowMs = 2000;
      await vi.runAllTimersAsync();
      await second;
      expect(waits).toEqual([1000]);
    });

    it('knows nothing of calls under way at once, whose end nobody can tell', async () => {
      const full = { status: 200, headers: { RateLimit: '"in-flight";r=0;t=5;qp-cost=1', 'RateLimit-Policy': '"in-flight";q=5;qu="concurrent-requests"' } };
      expect(await calls(serverOf(full), 2)).toEqual([0, 0]);
    });
  });
});

// Fails when a package or Node's own modules creep into what browsers load.
it('imports nothing but its own files', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const imported = files.flatMap((name) => [...readFileSync(`${import.meta.dirname}/${name}`, 'utf8').matchAll(/from '([^']+)'/g)].map(([, id]) => id));
  expect(imported.length).toBeGreaterThan(3);
  expect(imported.filter((id) => !id?.startsWith('./'))).toEqual([]);
});
