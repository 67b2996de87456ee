import type { OverrideSet, TierContent } from '@quotaplane/contracts';
import type { PolicySource } from './source';

/** What one override names that the tier in force lacks. */
export interface Dangling {
  readonly overrideId: string;
  readonly limits: readonly string[];
  readonly quotas: readonly string[];
}
export interface OverrideMisfit {
  readonly kind: 'unknown-limit' | 'unknown-quota' | 'burst-on-window' | 'beyond-exact';
  /** Where in the override's `set`, for the 422's pointer. */
  readonly path: readonly string[];
  readonly message: string;
}
export function danglingLimits(source: Pick<PolicySource, 'tiers' | 'overrides'>, atMs: number): readonly Dangling[] {
  throw new Error(`not built ${source.tiers.length} ${atMs}`);
}
/** Empty when the override can be saved against this tier content. */
export function overrideFits(set: OverrideSet, content: TierContent): readonly OverrideMisfit[] {
  throw new Error(`not built ${Object.keys(set).length} ${content.limits.length}`);
}
