/** All rates of the pictures: 10 units in 10 s. */
export const LIMIT = 10;
export const WINDOW_MS = 10_000;
export const LENGTH_MS = 34_000;
const BURST = 5;

const every = (fromMs, untilMs, stepMs) => Array.from({ length: Math.ceil((untilMs - fromMs) / stepMs) }, (_, index) => fromMs + index * stepMs);

/** A calm caller, then two rushes around the 10th second, then one who asks twice as often as is allowed. */
const ARRIVALS = [...every(0, 8_000, 2_000), ...every(8_600, 10_000, 100), ...every(10_000, 11_400, 100), ...every(16_000, LENGTH_MS, 500)];

const rate = { counter: 'c', limit: LIMIT, windowMs: WINDOW_MS, cost: 1 };

/** One picture each; `worst`: most that can pass in any window, as published. */
export const RATES = [
  { file: 'token-bucket', title: 'Token bucket and GCRA, burst 5', worst: LIMIT + BURST, charge: { ...rate, kind: 'bucket', capacity: BURST } },
  { file: 'leaky-bucket', title: 'Leaky bucket, 5 may wait', worst: LIMIT, charge: { ...rate, kind: 'queue', capacity: 6, maxWaitMs: 10_000 } },
  { file: 'fixed-window', title: 'Fixed window of the clock', worst: 2 * LIMIT, charge: { ...rate, kind: 'window', alignment: 'epoch' } },
  { file: 'fixed-window-first-hit', title: 'Fixed window that the first call opens', worst: 2 * LIMIT - 1, charge: { ...rate, kind: 'window', alignment: 'first-hit' } },
  { file: 'sliding-log', title: 'Sliding log', worst: LIMIT, charge: { ...rate, kind: 'log' } },
  { file: 'sliding-counter', title: 'Sliding counter', worst: 2 * LIMIT - 1, charge: { ...rate, kind: 'counter' } },
];

/** Calls that last, on three slots: [begin, length] in ms. */
export const CONCURRENCY = {
  file: 'concurrency', title: 'Concurrency, 3 slots', limit: 3, lengthMs: 34_000,
  calls: [[0, 9_000], [2_000, 4_000], [3_000, 12_000], [4_500, 3_000], [7_000, 7_000], [8_000, 2_000], [12_000, 14_000], [15_500, 5_000], [17_000, 9_000], [18_000, 3_000], [24_000, 6_000], [27_000, 6_000]],
};

function openStore(InProcessLimitStore) {
  let nowMs = 0;
  const store = new InProcessLimitStore({ maxCounters: 10, now: () => nowMs });
  const ask = async (atMs, charge) => {
    nowMs = atMs;
    return store.judgeAndSpend({ tenant: 't', knownHead: '*', fromMs: 0, untilMs: LENGTH_MS * 10, subjectFields: [], charges: [charge] }, 0);
  };
  return { store, ask };
}

/** @returns for each call when it came and when it went through; `wentMs` null for a refused one */
export async function playCalls({ charge }, InProcessLimitStore) {
  const { ask } = openStore(InProcessLimitStore);
  const calls = [];
  for (const cameMs of ARRIVALS) {
    const verdict = await ask(cameMs, charge);
    calls.push({ cameMs, wentMs: verdict.status === 'allowed' ? cameMs + (verdict.states[0].waitMs ?? 0) : null });
  }
  return calls;
}

/** @returns for each call when it began and, unless it was refused, when it ended */
export async function playSlots({ limit, calls }, InProcessLimitStore) {
  const { store, ask } = openStore(InProcessLimitStore);
  const running = [];
  const played = [];
  for (const [beganMs, lengthMs] of calls) {
    for (const endedMs of running.filter((atMs) => atMs <= beganMs)) {
      running.splice(running.indexOf(endedMs), 1);
      store.release('s');
    }
    const { status } = await ask(beganMs, { kind: 'slot', counter: 's', limit, isRegenerated: false, cost: 1 });
    const endedMs = status === 'allowed' ? beganMs + lengthMs : null;
    if (endedMs !== null) running.push(endedMs);
    played.push({ beganMs, endedMs });
  }
  return played;
}
