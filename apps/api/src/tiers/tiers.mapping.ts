import { tierContentSchema, type FieldChange, type Tier, type TierContent, type TierVersion } from '@quotaplane/contracts';
import type { TierRow, TierVersionRow } from '../database/rows';

/** What a fresh tier's draft holds: nothing. */
export const EMPTY_CONTENT: TierContent = tierContentSchema.parse({ limits: [], quotas: [] });

export function tierFrom(row: TierRow, counts: { readonly currentVersion: number | null; readonly tenants: number }): Tier {
  return {
    slug: row.slug, name: row.name, weight: row.weight, support: row.support, version: row.version,
    createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString(), archivedAt: row.archivedAt?.toISOString() ?? null,
    hasDraft: row.draft !== null, ...counts,
  };
}

export function contentFrom(stored: unknown): TierContent {
  return tierContentSchema.parse(stored);
}

export function tierVersionFrom(tier: string, row: TierVersionRow): TierVersion {
  return {
    tier, number: row.number, content: contentFrom(row.content), diff: diffFrom(row.diff), publishedBy: row.publishedBy,
    effectiveAt: row.effectiveAt.toISOString(), publishedAt: row.publishedAt.toISOString(),
  };
}

/** Written by {@link diffContent} and never edited since. */
function diffFrom(stored: unknown): FieldChange[] {
  return stored as FieldChange[];
}
