import {
  BUCKET_ALGORITHMS,
  overrideCreate,
  type OverrideCreate,
  type OverrideMode,
  type OverrideSubject,
  type TenantPolicy,
} from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { fromLocalInput } from '../../../format/time';

export const ENDINGS = ['1h', '24h', '7d', 'period', 'at', 'never'] as const;
export type Ending = (typeof ENDINGS)[number];

/** Whole units, null for unlimited, NaN for a field left empty: an emptied field must never grant everything. */
export type Proposed = number | null;

/** The form: every number the tenant has, as it would be; only those that differ are sent. */
export interface RaiseValues {
  readonly mode: OverrideMode;
  readonly subject: { readonly scope: OverrideSubject['scope']; readonly id: string };
  readonly set: {
    readonly limits: Record<string, { limit: Proposed; burst: Proposed }>;
    readonly quotas: Record<string, { allowance: Proposed }>;
    readonly concurrency: Proposed;
  };
  readonly reason: string;
  readonly ticket: string;
  readonly ending: Ending;
  /** Wall clock in the tenant's zone, used where `ending` is `at`. */
  readonly endsAt: string;
  /** Wall clock in the tenant's zone; empty starts now. */
  readonly startsAt: string;
}

export function initialValues(policy: TenantPolicy): RaiseValues {
  return {
    mode: 'at-least',
    subject: { scope: 'tenant', id: '' },
    set: {
      limits: Object.fromEntries(policy.limits.map(({ name, limit, burst }) => [name, { limit, burst }])),
      quotas: Object.fromEntries(policy.quotas.map(({ meter, allowance }) => [meter, { allowance }])),
      concurrency: policy.concurrency.limit,
    },
    reason: '',
    ticket: '',
    ending: '24h',
    endsAt: '',
    startsAt: '',
  };
}

/** What an override of this subject may change: a single one only limits that count by its own scope. */
export function offeredTo(policy: TenantPolicy, scope: OverrideSubject['scope']): Pick<TenantPolicy, 'limits' | 'quotas'> & { readonly hasConcurrency: boolean } {
  if (scope === 'tenant') return { limits: policy.limits, quotas: policy.quotas, hasConcurrency: true };
  return { limits: policy.limits.filter((limit) => limit.scope === scope), quotas: [], hasConcurrency: false };
}

/** One number that would change. */
export interface Proposal {
  readonly kind: 'limit' | 'burst' | 'allowance' | 'concurrency';
  /** Limit name or meter; empty for concurrency. */
  readonly name: string;
  readonly windowMs: number | null;
  readonly current: number | null;
  /** Where the current number comes from. */
  readonly source: string;
  readonly proposed: Proposed;
}

/** What differs from the numbers in force, in the order of the form. */
export function proposalsOf(values: RaiseValues, policy: TenantPolicy): Proposal[] {
  const offered = offeredTo(policy, values.subject.scope);
  const limits = offered.limits.flatMap(({ name, limit, burst, windowMs, sources }): Proposal[] => {
    const proposed = values.set.limits[name];
    if (!proposed) return [];
    return [
      { kind: 'limit', name, windowMs, current: limit, source: sources.limit, proposed: proposed.limit },
      { kind: 'burst', name, windowMs, current: burst, source: sources.burst, proposed: proposed.burst },
    ];
  });
  const quotas = offered.quotas.map(
    ({ meter, allowance, sources }): Proposal => ({
      kind: 'allowance',
      name: meter,
      windowMs: null,
      current: allowance,
      source: sources.allowance,
      proposed: values.set.quotas[meter]?.allowance ?? allowance,
    }),
  );
  const concurrency: Proposal = {
    kind: 'concurrency',
    name: '',
    windowMs: null,
    current: policy.concurrency.limit,
    source: policy.concurrency.source,
    proposed: values.set.concurrency,
  };
  return [...limits, ...quotas, ...(offered.hasConcurrency ? [concurrency] : [])].filter(({ current, proposed }) => current !== proposed);
}

/** Whether the number in force stays: "at least" never lowers one. */
export const isStaying = ({ current, proposed }: Proposal, mode: OverrideMode): boolean =>
  mode === 'at-least' && proposed !== current && (current === null || (proposed !== null && proposed < current));

/** Why these numbers cannot be reviewed, in one sentence; undefined when they can. */
export function complaintOf(proposals: readonly Proposal[], mode: OverrideMode): string | undefined {
  if (proposals.length === 0) return 'Change at least one number';
  // Below another override it still takes effect once that one ends.
  const isWithoutEffect = proposals.every((proposal) => isStaying(proposal, mode) && !proposal.source.startsWith('override:'));
  return isWithoutEffect ? 'Nothing would change: “At least” never lowers a number. Choose “Exactly” to lower it' : undefined;
}

const ENDING_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** When it ends; undefined for never and for text that is no time. */
export function endOf(
  values: Pick<RaiseValues, 'ending' | 'endsAt' | 'startsAt'>,
  policy: Pick<TenantPolicy, 'period' | 'timezone'>,
  nowMs: number,
): string | undefined {
  const { ending } = values;
  if (ending === 'never') return undefined;
  if (ending === 'period') return new Date(policy.period.endMs).toISOString();
  if (ending === 'at') return fromLocalInput(values.endsAt, policy.timezone);
  const startMs = Date.parse(fromLocalInput(values.startsAt, policy.timezone) ?? '') || nowMs;
  return new Date(startMs + ENDING_MS[ending]).toISOString();
}

/** The request body: exactly what the review shows, nothing that stays as it is. */
export function toOverride(values: RaiseValues, tenant: string, policy: TenantPolicy, nowMs: number) {
  const offered = offeredTo(policy, values.subject.scope);
  const limits: Record<string, { limit?: Proposed; burst?: Proposed }> = {};
  for (const { name, limit, burst, algorithm } of offered.limits) {
    const proposed = values.set.limits[name];
    if (!proposed) continue;
    const [isLimit, isBurst] = [proposed.limit !== limit, proposed.burst !== burst];
    if (!isLimit && !isBurst) continue;
    // An omitted burst follows the new limit; what the form shows must be what is enforced, so it is spelled out.
    const isBucket = BUCKET_ALGORITHMS.includes(algorithm) && proposed.limit !== null;
    limits[name] = { ...(isLimit ? { limit: proposed.limit } : {}), ...(isBucket && proposed.burst !== null ? { burst: proposed.burst } : {}) };
  }
  const quotas = Object.fromEntries(
    offered.quotas.flatMap(({ meter, allowance }) => {
      const proposed = values.set.quotas[meter];
      return proposed && proposed.allowance !== allowance ? [[meter, { allowance: proposed.allowance }] as const] : [];
    }),
  );
  const { scope, id } = values.subject;
  return {
    tenant,
    subject: scope === 'tenant' ? { scope } : { scope, id: id.trim() },
    mode: values.mode,
    set: {
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      ...(Object.keys(quotas).length > 0 ? { quotas } : {}),
      ...(!offered.hasConcurrency || values.set.concurrency === policy.concurrency.limit ? {} : { concurrency: values.set.concurrency }),
    },
    reason: values.reason,
    ...(values.ticket.trim() === '' ? {} : { ticket: values.ticket }),
    ...(values.startsAt === '' ? {} : { from: fromLocalInput(values.startsAt, policy.timezone) ?? 'no time' }),
    ...(values.ending === 'never' ? {} : { until: endOf(values, policy, nowMs) ?? 'no time' }),
  };
}

/** Names of the form's fields for members that the contract names otherwise. */
const FIELD_OF: Readonly<Record<string, string>> = { from: 'startsAt', until: 'endsAt' };
const fieldOf = (path: readonly PropertyKey[]): string =>
  path.length === 1 ? (FIELD_OF[String(path[0])] ?? String(path[0])) : path.map(String).join('.');

/** Holds the form against the contract's own schema, so that both refuse the same things. */
export function raiseResolver(tenant: string, policy: TenantPolicy): Resolver<RaiseValues, unknown, OverrideCreate> {
  return (values) => {
    const nowMs = Date.now();
    const parsed = overrideCreate.safeParse(toOverride(values, tenant, policy, nowMs));
    const errors: FieldErrors<RaiseValues> = {};
    const refuse = (field: string, message: string): void => void setPath(errors, field, { type: 'contract', message });
    if (parsed.success) {
      const complaint = complaintOf(proposalsOf(values, policy), values.mode);
      if (complaint !== undefined) {
        refuse('set.root', complaint);
        return { values: {}, errors };
      }
      const { from, until } = parsed.data;
      if (until === undefined || Date.parse(until) > Math.max(nowMs, Date.parse(from ?? '') || 0)) return { values: parsed.data, errors: {} };
      refuse('endsAt', 'It would end before it begins');
      return { values: {}, errors };
    }
    for (const { path, message } of parsed.error.issues) {
      const field = fieldOf(path);
      if (field === 'set') refuse('set.root', 'Change at least one number');
      else refuse(field, messageFor(field, message));
    }
    return { values: {}, errors };
  };
}

function messageFor(field: string, message: string): string {
  if (field === 'subject.id') return 'Name the key, user or address';
  if (field === 'reason') return 'Say why, in 3 to 500 characters';
  if (field === 'startsAt' || field === 'endsAt') return 'Choose a date and a time';
  if (/^Too small/i.test(message)) return field.endsWith('burst') ? 'Enter 1 or more' : 'Enter 0 or more: negative numbers are refused';
  return /expected (number|int)|NaN/i.test(message) ? 'Enter whole units' : message;
}
