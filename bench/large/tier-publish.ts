import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeReceipts, TierContent } from '@quotaplane/contracts';
import { GuardNodes } from './guard-nodes';
import { RestClient } from './rest-client';

/** A running control plane with a tier that has many tenants. */
export interface PublishPlace {
  readonly apiUrl: string;
  readonly token: string;
  readonly redisUrl: string;
  /** Published, with the limit `per-minute` of scope `tenant`. */
  readonly tier: string;
  /** All tenants of the tier. */
  readonly slugs: readonly string[];
}

/** Of sorted samples, in ms. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  readonly count: number;
}

export interface TierPublishFigures {
  readonly tenants: number;
  /** From the POST until every node has dropped what is older, ms, of each round. */
  readonly enforcedMs: readonly number[];
  /** While the publishes ran. */
  readonly lists: Spread;
  readonly edits: Spread;
  readonly editsEnforced: Spread;
}

const NODES = 4;
const LIMIT_NAME = 'per-minute';
const PUBLISH_LIMIT_MS = 300_000;
const SAMPLE = 200;

export const spreadOf = (samples: readonly number[]): Spread => {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99), worst: at(1), count: sorted.length };
};

/**
 * Publishes versions of a tier until all nodes enforce each, while an operator lists tenants and raises single ones.
 * @throws {RangeError} a tenant, a node or a receipt is not what it must be
 */
export async function measureTierPublish(place: PublishPlace, { rounds = 3 }: { readonly rounds?: number } = {}): Promise<TierPublishFigures> {
  const rest = new RestClient(place.apiUrl, place.token);
  const nodes = await GuardNodes.start(place.redisUrl, NODES);
  try {
    const enforcedMs: number[] = [];
    const work: OperatorWork = { lists: [], edits: [], editsEnforced: [] };
    for (let round = 0; round < rounds; round += 1) {
      const limit = await draft(rest, place.tier);
      const over = new AbortController();
      const operator = operate(rest, nodes, place, work, over.signal);
      const startedAt = performance.now();
      const { body } = await rest.ask<{ changeId: string }>('POST', `/v1/tiers/${place.tier}/publish`, { body: {} });
      await untilLive(rest, body.changeId, nodes.count);
      enforcedMs.push(Math.round(performance.now() - startedAt));
      over.abort();
      const raised = await operator;
      await requireEnforced(nodes, place.slugs, raised, limit);
    }
    return { tenants: place.slugs.length, enforcedMs, lists: spreadOf(work.lists), edits: spreadOf(work.edits), editsEnforced: spreadOf(work.editsEnforced) };
  } finally {
    await nodes.stop();
  }
}

/**
 * Edits of single tenants one after another: from the request until every node has dropped the older policy.
 * @throws {RangeError} a node does not enforce the number that was saved
 */
export async function measurePropagation(place: PublishPlace, { edits = 200 }: { readonly edits?: number } = {}): Promise<{ readonly enforced: Spread; readonly saved: Spread }> {
  const rest = new RestClient(place.apiUrl, place.token);
  const nodes = await GuardNodes.start(place.redisUrl, NODES);
  try {
    const enforced: number[] = [];
    const saved: number[] = [];
    for (let edit = 0; edit < edits; edit += 1) {
      const slug = place.slugs[(edit * 37) % place.slugs.length] ?? '';
      await nodes.enforced(slug, LIMIT_NAME);
      const took = await raise(rest, nodes, slug, 20_000 + edit);
      enforced.push(took.enforcedMs);
      saved.push(took.savedMs);
      const numbers = await nodes.enforced(slug, LIMIT_NAME);
      if (numbers.some((number) => number !== 20_000 + edit)) throw new RangeError(`${slug} is enforced with ${numbers.join()}, not ${20_000 + edit}`);
      // No two edits in step with any tick of the worker.
      await sleep((edit * 13) % 29);
    }
    return { enforced: spreadOf(enforced), saved: spreadOf(saved) };
  } finally {
    await nodes.stop();
  }
}

interface OperatorWork {
  readonly lists: number[];
  readonly edits: number[];
  readonly editsEnforced: number[];
}

/** @returns the limit of the draft */
async function draft(rest: RestClient, tier: string): Promise<number> {
  const { body, etag } = await rest.ask<{ content: TierContent }>('GET', `/v1/tiers/${tier}/draft`);
  const versions = await rest.ask<{ items: { number: number; content: TierContent }[] }>('GET', `/v1/tiers/${tier}/versions?limit=1`);
  const last = versions.body.items[0];
  const limit = 1_000 + (last?.number ?? 0);
  const content = last?.content ?? body.content;
  const limits = content.limits.map((entry) => (entry.name === LIMIT_NAME ? { ...entry, limit } : entry));
  await rest.ask('PUT', `/v1/tiers/${tier}/draft`, { body: { ...content, limits }, ifMatch: etag });
  return limit;
}

async function untilLive(rest: RestClient, changeId: string, nodes: number): Promise<void> {
  const untilMs = performance.now() + PUBLISH_LIMIT_MS;
  for (;;) {
    const { body } = await rest.ask<ChangeReceipts>('GET', `/v1/changes/${changeId}`);
    if (body.state === 'published' && body.nodes.live >= nodes && body.nodes.lagging.length === 0) return;
    if (performance.now() > untilMs) throw new RangeError(`change ${changeId} is ${body.state} on ${body.nodes.live} of ${body.nodes.total} nodes after ${PUBLISH_LIMIT_MS} ms`);
    await sleep(20);
  }
}

async function raise(rest: RestClient, nodes: GuardNodes, slug: string, limit: number): Promise<{ readonly savedMs: number; readonly enforcedMs: number }> {
  const startedAt = performance.now();
  const { body } = await rest.ask<{ changeId: string }>('POST', '/v1/overrides', {
    body: { tenant: slug, subject: { scope: 'tenant' }, mode: 'exactly', set: { limits: { [LIMIT_NAME]: { limit } } }, reason: 'bench' },
  });
  const savedMs = performance.now() - startedAt;
  const { atMs } = await nodes.applied(body.changeId);
  return { savedMs, enforcedMs: Math.max(...atMs) - startedAt };
}

/** An operator at the console while a publish runs. @returns tenants that were raised, with their numbers */
async function operate(rest: RestClient, nodes: GuardNodes, { slugs }: PublishPlace, work: OperatorWork, over: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const raised = new Map<string, number>();
  for (let turn = 0; !over.aborted; turn += 1) {
    const slug = slugs[(work.lists.length * 61 + 7) % slugs.length] ?? '';
    const startedAt = performance.now();
    await rest.ask('GET', turn % 2 === 0 ? '/v1/tenants?limit=50' : `/v1/tenants?limit=50&q=${slug.slice(-4)}`);
    work.lists.push(performance.now() - startedAt);
    if (turn % 4 === 0) {
      const took = await raise(rest, nodes, slug, 50_000 + turn);
      raised.set(slug, 50_000 + turn);
      work.edits.push(took.savedMs);
      work.editsEnforced.push(took.enforcedMs);
    }
    await sleep(20);
  }
  return raised;
}

async function requireEnforced(nodes: GuardNodes, slugs: readonly string[], raised: ReadonlyMap<string, number>, limit: number): Promise<void> {
  const step = Math.max(1, Math.floor(slugs.length / SAMPLE));
  const sample = [...slugs.filter((_, index) => index % step === 0), slugs.at(-1) ?? ''];
  for (const slug of new Set([...sample, ...raised.keys()])) {
    const numbers = await nodes.enforced(slug, LIMIT_NAME);
    const own = raised.get(slug);
    // Raised in an earlier round, a tenant keeps its own number.
    const isRight = own === undefined ? numbers.every((number) => number === limit || (number ?? 0) >= 20_000) : numbers.every((number) => number === own);
    if (!isRight) throw new RangeError(`${slug} is enforced with ${numbers.join()}, not ${own ?? limit}`);
  }
}
