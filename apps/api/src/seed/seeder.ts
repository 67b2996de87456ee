import { hashSecret } from '@quotaplane/guard';
import type { ChangeTopic } from '../audit/change-topic';
import { PLATFORM_CHAIN, type ChangesService } from '../audit/changes.service';
import type { Clock } from '../config/clock';
import type { PrismaService, Tx } from '../database/prisma.service';
import { SYSTEM_CALLER } from '../http/caller';
import { demoHistory } from './demo-history';
import { DEMO_KEYS, DEMO_TENANTS } from './demo-tenants';
import { DEMO_TIERS, ENDPOINT_CLASSES, FALLBACK_TIER, PLATFORM_TIERS, RESERVED_TENANT_ROWS, type SeedTier } from './platform-data';
import { insertTraffic } from './seed-sql';

const REASON = 'First start';
/** Transactions beside each other; fewer than the pool has connections. */
const AT_ONCE = 6;
const DEMO_AGE_MS = 130 * 86_400_000;

interface NewTenant {
  readonly slug: string;
  readonly name: string;
  readonly tier: string;
  readonly timezone?: string;
  readonly anchorDay?: number;
  readonly isReserved?: boolean;
  readonly createdAt: Date;
}

/**
 * Puts in place what a platform needs to judge its first call and, unless told otherwise, the demo. Only what is missing is made: what an
 * operator has changed since stays as it is. Every piece is a change with its audit entry, and the worker publishes it like any other.
 */
export class Seeder {
  constructor(
    private readonly prisma: PrismaService,
    private readonly changes: ChangesService,
    private readonly clock: Clock,
  ) {}

  /** @returns how many changes were made; 0 on every later start */
  async run({ withDemo }: { readonly withDemo: boolean }): Promise<number> {
    let made = 0;
    for (const tier of withDemo ? [...PLATFORM_TIERS, ...DEMO_TIERS] : PLATFORM_TIERS) made += await this.tier(tier);
    made += await this.classes();
    made += await this.settings();
    const now = new Date(this.clock.now());
    made += await this.tenants(RESERVED_TENANT_ROWS.map((row) => ({ ...row, isReserved: true, createdAt: now })));
    return withDemo ? made + (await this.demo(now)) : made;
  }

  private async demo(now: Date): Promise<number> {
    let made = await this.tenants(DEMO_TENANTS.map((tenant) => ({ ...tenant, createdAt: new Date(now.getTime() - DEMO_AGE_MS) })));
    for (const key of DEMO_KEYS) made += await this.demoKey(key);
    if (made === 0) return 0;
    // Keyed rows of the ledger and of charts; no policy depends on them.
    const history = demoHistory(now.getTime());
    await this.prisma.usagePeriod.createMany({ data: history.periods, skipDuplicates: true });
    await this.prisma.usageJournal.createMany({ data: history.journals, skipDuplicates: true });
    await insertTraffic(this.prisma, history.traffic);
    return made;
  }

  private async tier({ slug, name, weight, support, content }: SeedTier): Promise<number> {
    if (await this.prisma.tier.findUnique({ where: { slug }, select: { id: true } })) return 0;
    return this.change([PLATFORM_CHAIN], 'tier.create', { type: 'tier', id: slug }, null, [{ kind: 'tier', slug }], { slug, name, weight, support, content }, async (tx, at) => {
      await tx.tier.create({
        data: {
          slug, name, weight, support, createdAt: at,
          versions: { create: { number: 1, content, diff: [], effectiveAt: at, publishedAt: at, publishedBy: SYSTEM_CALLER.name } },
        },
      });
    });
  }

  private async classes(): Promise<number> {
    const known = new Set((await this.prisma.endpointClass.findMany({ select: { slug: true } })).map(({ slug }) => slug));
    // A class that an operator deleted later stays deleted: only an empty catalogue is filled.
    if (known.size > 0) return 0;
    const after = { classes: ENDPOINT_CLASSES };
    return this.change([PLATFORM_CHAIN], 'endpoint-class.create', { type: 'endpoint-class', id: '*' }, null, [{ kind: 'classes' }], after, async (tx) => {
      await tx.endpointClass.createMany({ data: ENDPOINT_CLASSES.map((row) => ({ ...row, cost: BigInt(row.cost) })) });
    });
  }

  private async settings(): Promise<number> {
    if (await this.prisma.settings.findUnique({ where: { id: 1 } })) return 0;
    const after = { fallbackTier: FALLBACK_TIER };
    return this.change([PLATFORM_CHAIN], 'settings.create', { type: 'settings', id: 'platform' }, null, [{ kind: 'fallback' }], after, async (tx) => {
      await tx.settings.create({ data: { id: 1, ...after } });
    });
  }

  /** Several at a time: each is a transaction on a chain of its own. */
  private async tenants(wanted: readonly NewTenant[]): Promise<number> {
    const known = new Set((await this.prisma.tenant.findMany({ where: { slug: { in: wanted.map(({ slug }) => slug) } }, select: { slug: true } })).map(({ slug }) => slug));
    const missing = wanted.filter(({ slug }) => !known.has(slug));
    for (let from = 0; from < missing.length; from += AT_ONCE) {
      await Promise.all(missing.slice(from, from + AT_ONCE).map((tenant) => this.tenant(tenant)));
    }
    return missing.length;
  }

  private async tenant({ slug, name, tier, timezone = 'UTC', anchorDay = 1, isReserved = false, createdAt }: NewTenant): Promise<number> {
    const after = { slug, name, tier, timezone, anchorDay, status: 'active' };
    return this.change([slug], 'tenant.create', { type: 'tenant', id: slug }, slug, [{ kind: 'tenant', slug }], after, async (tx) => {
      const { id: tierId } = await tx.tier.findUniqueOrThrow({ where: { slug: tier }, select: { id: true } });
      await tx.tenant.create({
        data: {
          slug, name, timezone, anchorDay, reserved: isReserved, createdAt,
          assignments: { create: { tierId, effectiveAt: createdAt, createdAt, createdBy: SYSTEM_CALLER.name } },
        },
      });
    });
  }

  private async demoKey({ tenant, name }: (typeof DEMO_KEYS)[number]): Promise<number> {
    const secretHash = hashSecret(name);
    if (await this.prisma.apiKey.findUnique({ where: { secretHash }, select: { id: true } })) return 0;
    const topics: ChangeTopic[] = [{ kind: 'key', hash: secretHash }];
    return this.change([tenant], 'key.create', { type: 'key', id: name }, tenant, topics, { name, kind: 'customer' }, async (tx, at) => {
      const { id: tenantId } = await tx.tenant.findUniqueOrThrow({ where: { slug: tenant }, select: { id: true } });
      await tx.apiKey.create({ data: { tenantId, name, secretHash, hint: name, createdAt: at, createdBy: SYSTEM_CALLER.name } });
    });
  }

  private async change(
    chains: readonly string[],
    action: string,
    entity: { readonly type: string; readonly id: string },
    tenant: string | null,
    topics: readonly ChangeTopic[],
    after: object,
    work: (tx: Tx, at: Date) => Promise<void>,
  ): Promise<number> {
    await this.changes.commit(SYSTEM_CALLER, chains, async (tx, { at }) => {
      await work(tx, at);
      return { answer: {}, action, entity, tenant, topics, reason: REASON, before: null, after };
    }, { opens: true });
    return 1;
  }
}
