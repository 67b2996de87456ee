import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService } from '../database/prisma.service';
import { notFound, type Caller } from '../http/caller';
import { createdCursor, pageOfRows, readCursor } from '../http/page-cursor';
import { lockActive } from './delivery-sql';
import { deliveryFrom } from './webhooks.mapping';
import { requireWebhook } from './webhooks.service';

/** The log of what was sent to an endpoint. */
@Injectable()
export class DeliveriesService {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService, @Inject(ChangesService) private readonly changes: ChangesService) {}

  /** Newest first. */
  async list({ params: { id }, query }: RouteInput<typeof routes.webhookDeliveriesList>): Promise<RouteOutput<typeof routes.webhookDeliveriesList>> {
    const after = readCursor(query.cursor, createdCursor);
    await requireWebhook(this.prisma, id);
    const rows = await this.prisma.webhookDelivery.findMany({
      where: {
        webhookId: id,
        ...(query.state === undefined ? {} : { state: query.state }),
        ...(query.type === undefined ? {} : { event: { type: query.type } }),
        ...(after ? { OR: [{ createdAt: { lt: after[0] } }, { createdAt: after[0], id: { lt: after[1] } }] } : {}),
      },
      include: { event: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: query.limit + 1,
    });
    return pageOfRows(rows, query.limit, (row) => [row.createdAt.toISOString(), row.id], deliveryFrom);
  }

  /**
   * Sends again, at once and with the whole schedule before it: the same event under the same `webhook-id`. The log goes on.
   * @throws {DomainError} conflict where the endpoint is not active, or the delivery is being sent
   */
  async redeliver(caller: Caller, { params: { id, deliveryId } }: RouteInput<typeof routes.webhookRedeliver>): Promise<RouteOutput<typeof routes.webhookRedeliver>> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const webhook = await requireWebhook(tx, id);
      const row = await tx.webhookDelivery.findFirst({ where: { id: deliveryId, webhookId: id }, include: { event: true } });
      if (!row) throw notFound();
      if (!(await lockActive(tx, id))) throw new DomainError('conflict', `The endpoint is ${webhook.status}; enable it first`);
      const { count } = await tx.webhookDelivery.updateMany({
        where: { id: deliveryId, OR: [{ leasedUntil: null }, { leasedUntil: { lte: at } }] },
        data: { state: 'pending', attempts: 0, nextAttemptAt: at, leasedUntil: null },
      });
      if (count === 0) throw new DomainError('conflict', 'The delivery is being sent right now');
      const before = deliveryFrom(row);
      const after = { ...before, state: 'pending' as const, attempts: 0, nextAttemptAt: at.toISOString() };
      return { answer: after, action: 'webhook.redeliver', entity: { type: 'webhook-delivery', id: deliveryId }, topics: [], before, after };
    });
  }
}
