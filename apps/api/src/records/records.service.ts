import { Inject, Injectable } from '@nestjs/common';
import type { RouteOutput, routes, UsageRecordResult } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { Clock } from '../config/clock';
import { failpoint } from '../config/failpoints';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import type { ContentMode } from '../http/cloud-events';
import { RecordBatch } from './record-batch';
import { readItems, refuse, type SentItem, type SentRecord } from './record-items';

type Answer = RouteOutput<typeof routes.usageRecordsPost>;

/** Usage that something else than a guard has counted: once per (tenant, source, id), whatever crashes in between (P13). */
@Injectable()
export class RecordsService {
  constructor(
    @Inject(ChangesService) private readonly changes: ChangesService,
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Ids, raw rows and sums are one transaction, so that a crash leaves all or nothing, and a repeated request counts nothing twice.
   * @param body as it was sent; a bad item is refused by itself
   * @throws {DomainError} invalid: the body as a whole is no list or event
   */
  async post(caller: Caller, body: unknown, mode: ContentMode): Promise<Answer> {
    const items = readItems(body, mode, this.clock.now());
    const { sent, refused } = await this.ofTenants(items, caller.boundTenant);
    const slugs = [...new Set(sent.map(({ record }) => record.tenant))];
    // Into the tenant's own chain where there is one tenant, so that the requests of different tenants need not queue.
    const tenant = caller.boundTenant ?? (slugs.length === 1 ? (slugs[0] ?? null) : null);
    const answer = await this.changes.commit(caller, [tenant ?? PLATFORM_CHAIN], async (tx, change) => {
      const results = [...refused, ...(await new RecordBatch(tx, change.at).count(sent))].sort((a, b) => a.index - b.index);
      const counts = countsOf(results);
      failpoint('records.before-commit');
      return { answer: { ...counts, items: results }, action: 'usage-records.post', entity: { type: 'usage-records', id: change.id }, tenant, topics: [], before: null, after: counts };
    });
    failpoint('records.after-commit');
    return answer;
  }

  /** Refuses records of unknown and deleted tenants, and, word for word alike, of those that the caller is not bound to. */
  private async ofTenants(items: readonly SentItem[], boundTenant: string | null): Promise<{ readonly sent: SentRecord[]; readonly refused: UsageRecordResult[] }> {
    const valid = items.flatMap((item) => ('refusal' in item ? [] : [item]));
    const slugs = [...new Set(valid.map(({ record }) => record.tenant))].filter((slug) => boundTenant === null || slug === boundTenant);
    const rows = await this.prisma.tenant.findMany({ where: { slug: { in: slugs }, deletedAt: null }, select: { slug: true } });
    const known = new Set(rows.map(({ slug }) => slug));
    return {
      sent: valid.filter(({ record }) => known.has(record.tenant)),
      refused: items.flatMap((item) => {
        if ('refusal' in item) return [item.refusal];
        return known.has(item.record.tenant) ? [] : [refuse(item.record, item.index, 'not_found', item.pointerTo('tenant'), 'is not a tenant')];
      }),
    };
  }
}

const countsOf = (results: readonly UsageRecordResult[]): Pick<Answer, 'counted' | 'duplicates' | 'refused'> => {
  const of = (...statuses: UsageRecordResult['status'][]): number => results.filter(({ status }) => statuses.includes(status)).length;
  return { counted: of('counted', 'adjusted'), duplicates: of('duplicate'), refused: of('refused') };
};
