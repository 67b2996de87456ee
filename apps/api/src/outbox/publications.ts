import { compareStreamIds, STREAM_START } from '@quotaplane/policy';
import type { Tx } from '../database/prisma.service';
import { stayAwake } from '../database/stay-awake';
import type { CataloguePublisher } from './catalogue-publisher';
import type { KeyPublisher } from './key-publisher';
import { tenantsOfKeys, tenantsOfTier, type ClaimedChange, type RelayedChange } from './outbox-sql';
import type { TenantPublisher } from './tenant-publisher';

/** Their rows are locked while a page is on its way to Redis, and urgent publishes of them wait: a page must take little of what an edit may take in all. */
const TENANTS_PER_PAGE = 250;

/** Between the pages of a tier. Rejects to end the publish there; it is gone on with by whoever claims the change next. */
export type BetweenPages = () => Promise<void>;

/** What one batch has published so far: subjects that several of its changes name are published once, for all were committed before the claim. */
export class Publications {
  private readonly tenantRevisions = new Map<string, { readonly revision: number; readonly position: string }>();
  private readonly documents = new Map<string, string>();

  constructor(
    private readonly tx: Tx,
    private readonly tenants: TenantPublisher,
    private readonly keys: KeyPublisher,
    private readonly catalogue: CataloguePublisher,
    private readonly betweenPages: BetweenPages = () => Promise.resolve(),
  ) {}

  async publish({ id, topics }: ClaimedChange): Promise<RelayedChange> {
    const revisions = new Map<string, number>();
    const positions: string[] = [];
    const publishTenants = async (slugs: readonly string[]): Promise<void> => {
      await this.publishTenants(slugs, id);
      for (const slug of slugs) {
        const published = this.tenantRevisions.get(slug);
        if (!published) continue;
        revisions.set(slug, published.revision);
        positions.push(published.position);
      }
    };
    await publishTenants(topics.flatMap((topic) => (topic.kind === 'tenant' ? [topic.slug] : [])));
    for (const topic of topics) {
      if (topic.kind === 'tier') positions.push(await this.publishTier(topic.slug, id));
    }
    const hashes = topics.flatMap((topic) => (topic.kind === 'key' ? [topic.hash] : []));
    if (hashes.length > 0) positions.push(...(await this.publishKeys(hashes, id)).values());
    if (topics.some(({ kind }) => kind === 'classes')) positions.push(await this.document('classes', () => this.catalogue.publishClasses(id)));
    if (topics.some(({ kind }) => kind === 'lists')) positions.push(await this.document('lists', () => this.catalogue.publishLists(id)));
    if (await this.touchesFallback(topics)) {
      positions.push(await this.document('fallback', async () => (await this.catalogue.publishFallback(id)) ?? STREAM_START));
    }
    const position = positions.reduce(later, STREAM_START);
    return { id, position, revisions: [...revisions].map(([tenant, revision]) => ({ tenant, revision })) };
  }

  /** A key must not work before its tenant's policy is there: another run may still be at the tenant. */
  private async publishKeys(hashes: readonly string[], changeId: string): Promise<ReadonlyMap<string, string>> {
    await this.tenants.publish(await tenantsOfKeys(this.tx, hashes), { onlyWhereLacking: true });
    return this.keys.publish(hashes, changeId);
  }

  private async publishTenants(slugs: readonly string[], changeId: string): Promise<void> {
    const waiting = [...new Set(slugs)].filter((slug) => !this.tenantRevisions.has(slug));
    for (let from = 0; from < waiting.length; from += TENANTS_PER_PAGE) {
      const outcomes = await stayAwake(this.tx, this.tenants.publish(waiting.slice(from, from + TENANTS_PER_PAGE), { changeId }));
      const failed = outcomes.find((outcome) => 'error' in outcome);
      for (const outcome of outcomes) {
        if ('error' in outcome || outcome.position === null) continue;
        this.tenantRevisions.set(outcome.tenant, { revision: outcome.revision, position: outcome.position });
      }
      if (failed && 'error' in failed) throw new RelayError(`${failed.tenant}: ${failed.error}`);
      // A claim must not look idle to Postgres while a large tier is on its way.
      await this.tx.$queryRaw`SELECT 1`;
    }
  }

  /**
   * All tenants of a tier that are not known to have the change yet. Each page writes down its own; one whose policy cannot be made keeps only itself
   * waiting. @returns last feed id
   */
  private async publishTier(tier: string, changeId: string): Promise<string> {
    const reached = await tenantsOfTier(this.tx, tier, changeId);
    const lacking = reached.filter(({ hasChange }) => !hasChange).map(({ slug }) => slug);
    // Told once more where all were told before the end came, so that there is an id that is later than theirs.
    const waiting = lacking.length > 0 ? lacking : reached.slice(-1).map(({ slug }) => slug);
    let position = STREAM_START;
    let failed: { readonly tenant: string; readonly error: string } | undefined;
    for (let from = 0; from < waiting.length; from += TENANTS_PER_PAGE) {
      await this.betweenPages();
      const outcomes = await stayAwake(this.tx, this.tenants.publish(waiting.slice(from, from + TENANTS_PER_PAGE), { changeId, isRecorded: true }));
      for (const outcome of outcomes) {
        if ('error' in outcome) failed ??= outcome;
        else position = later(position, outcome.position ?? STREAM_START);
      }
      // A claim must not look idle to Postgres while a large tier is on its way.
      await this.tx.$queryRaw`SELECT 1`;
    }
    if (failed) throw new RelayError(`${failed.tenant}: ${failed.error}`);
    return position;
  }

  private async touchesFallback(topics: ClaimedChange['topics']): Promise<boolean> {
    if (topics.some(({ kind }) => kind === 'fallback')) return true;
    const tiers = topics.flatMap((topic) => (topic.kind === 'tier' ? [topic.slug] : []));
    return tiers.length > 0 && tiers.includes((await this.catalogue.fallbackTier()) ?? '');
  }

  private async document(name: string, publish: () => Promise<string>): Promise<string> {
    const position = this.documents.get(name) ?? (await publish());
    this.documents.set(name, position);
    return position;
  }
}

const later = (left: string, right: string): string => (compareStreamIds(right, left) > 0 ? right : left);

/** A change could not be published in full; it stays in the outbox. */
class RelayError extends Error {
  override readonly name = 'RelayError';
}
