import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type ChangeReceipts, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { liveNodes, readNodes, receiptsOf, STREAM_START, type Receipts } from '@quotaplane/policy';
import type { Redis } from 'ioredis';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import type { ChangeRow } from '../database/rows';
import { notFound } from '../http/caller';

const REVISIONS_SHOWN = 100;

/** Who has a change, from the nodes' own words. */
@Injectable()
export class ReceiptsService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(REDIS) private readonly redis: Redis) {}

  /** @throws {DomainError} not_found; store_unavailable while Redis, which holds the receipts, is away */
  async get(id: string): Promise<ChangeReceipts> {
    const change = await this.prisma.change.findUnique({ where: { id }, include: { revisions: { take: REVISIONS_SHOWN, orderBy: { tenant: 'asc' } } } });
    if (!change) throw notFound();
    const { nodes, nowMs } = await this.nodes();
    const isPublished = change.publishedAt !== null && change.position !== null;
    const receipts = receiptsOf(nodes, change.position ?? STREAM_START, nowMs);
    return {
      id,
      state: isPublished ? 'published' : 'queued',
      committedAt: change.committedAt.toISOString(),
      publishedAt: change.publishedAt?.toISOString() ?? null,
      revisions: change.revisions.map(({ tenant, revision }) => ({ tenant, revision })),
      tenants: change.tenantCount,
      // Until it is published nobody can have it, whatever the nodes have applied.
      nodes: isPublished
        ? { live: receipts.live, total: receipts.total, lagging: [...receipts.lagging] }
        : { live: 0, total: receipts.total, lagging: liveNodes(nodes, nowMs).filter(({ kind }) => kind === 'service').map(({ incarnation }) => incarnation) },
      tookMs: isPublished ? await this.tookMs(change, receipts) : null,
    };
  }

  async listNodes({ query }: Pick<RouteInput<typeof routes.nodesList>, 'query'>): Promise<RouteOutput<typeof routes.nodesList>> {
    const { nodes, nowMs } = await this.nodes();
    const alive = new Set(liveNodes(nodes, nowMs).map(({ incarnation }) => incarnation));
    const sorted = [...nodes].sort((a, b) => (a.incarnation < b.incarnation ? -1 : 1)).filter(({ incarnation }) => incarnation > (query.cursor ?? ''));
    const items = sorted.slice(0, query.limit).map((node) => ({
      incarnation: node.incarnation,
      service: node.service,
      kind: node.kind,
      version: node.version,
      host: node.host,
      pid: node.pid,
      startedAt: new Date(node.startedAtMs).toISOString(),
      lastSeen: new Date(node.seenAtMs).toISOString(),
      mode: node.mode,
      position: node.position,
      alive: alive.has(node.incarnation),
    }));
    return { items, nextCursor: sorted.length > query.limit ? (items.at(-1)?.incarnation ?? null) : null };
  }

  private async nodes() {
    try {
      return await readNodes(this.redis);
    } catch (cause) {
      throw new DomainError('store_unavailable', 'Redis does not answer, and the nodes are heard there', { retryAfter: 1 }, { cause });
    }
  }

  /**
   * From the commit to the last live receipt so far. The commit is told by Postgres' side and the receipt by Redis' clock: the publish has an
   * instant in both (`publishedAt`, and the ms of the feed id), so each stretch is measured in one clock. Kept once all live nodes have it,
   * for a node that moves on tells a later time.
   */
  private async tookMs(change: ChangeRow, { appliedAtMs, lagging }: Receipts): Promise<number | null> {
    const { committedAt, publishedAt, position, liveAt } = change;
    if (liveAt !== null) return liveAt.getTime() - committedAt.getTime();
    if (publishedAt === null || position === null) return null;
    const toReceipt = position === STREAM_START ? 0 : appliedAtMs === null ? null : appliedAtMs - Number(position.split('-')[0]);
    if (toReceipt === null) return null;
    const tookMs = Math.max(0, publishedAt.getTime() - committedAt.getTime()) + Math.max(0, Math.round(toReceipt));
    if (lagging.length === 0) {
      await this.prisma.change.updateMany({ where: { id: change.id, liveAt: null }, data: { liveAt: new Date(committedAt.getTime() + tookMs) } });
    }
    return tookMs;
  }
}
