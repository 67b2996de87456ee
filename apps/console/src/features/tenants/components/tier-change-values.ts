import { tenantTierPut, type Tenant } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import type { z } from 'zod';
import { fromLocalInput } from '../../../format/time';
import type { TierMove } from '../api/tenant.queries';

export const TIER_WHENS = ['now', 'at', 'period-end'] as const;
export type TierWhen = (typeof TIER_WHENS)[number];

export interface TierChangeValues {
  readonly tier: string;
  readonly when: TierWhen;
  /** Wall clock in the tenant's zone, used where `when` is `at`. */
  readonly at: string;
  readonly usage: TierMove['usage'];
  readonly reason: string;
}

export type TierPut = z.output<typeof tenantTierPut>;

/** The move as the API takes it; undefined while there is nothing to preview yet. */
export function moveOf({ tier, when, at, usage }: TierChangeValues, tenant: Pick<Tenant, 'tier' | 'timezone'>): TierMove | undefined {
  const effectiveAt = when === 'at' ? fromLocalInput(at, tenant.timezone) : when;
  return tier === '' || tier === tenant.tier || effectiveAt === undefined ? undefined : { tier, effectiveAt, usage };
}

/** Holds the form against the contract's own schema, so that both refuse the same things. */
export function tierChangeResolver(tenant: Pick<Tenant, 'tier' | 'timezone' | 'scheduledTier'>): Resolver<TierChangeValues, unknown, TierPut> {
  return (values) => {
    const { tier, when, at, usage, reason } = values;
    const effectiveAt = when === 'at' ? (fromLocalInput(at, tenant.timezone) ?? 'no time') : when;
    const parsed = tenantTierPut.safeParse({ tier, effectiveAt, usage, reason });
    const errors: FieldErrors<TierChangeValues> = {};
    const refuse = (field: keyof TierChangeValues, message: string): void => void setPath(errors, field, { type: 'contract', message });
    for (const { path } of parsed.error?.issues ?? []) {
      if (path[0] === 'reason') refuse('reason', 'Say why, in 3 to 500 characters');
      else if (path[0] === 'tier') refuse('tier', 'Choose a tier');
      else refuse('at', 'Choose a date and a time');
    }
    // Back to the tier in force is a change only where another one is planned.
    if (tier === tenant.tier && tenant.scheduledTier === null) refuse('tier', 'It has this tier now');
    if (when === 'at' && Date.parse(effectiveAt) <= Date.now()) refuse('at', 'Choose a time to come, or “Now”');
    return parsed.success && Object.keys(errors).length === 0 ? { values: parsed.data, errors: {} } : { values: {}, errors };
  };
}

export const USAGE_WORDS: Readonly<Record<TierMove['usage'], string>> = {
  carry: 'What was used in this period counts against the new allowance.',
  prorate: 'The allowance of this period is split by time between both tiers.',
  restart: 'From the change on the new allowance counts alone, from 0. What was used before stays on the bill.',
};
