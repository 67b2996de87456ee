import { topUpCreate, type TenantPolicy } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { fromLocalInput } from '../../../format/time';
import type { NewTopUp } from '../api/top-up.queries';

export const GRANT_ENDINGS = ['period', 'at', 'spent'] as const;
export type GrantEnding = (typeof GRANT_ENDINGS)[number];

export interface GrantValues {
  readonly meter: string;
  /** Empty until typed; a figure beyond 2^53 stays text and is refused. */
  readonly units: number | string;
  readonly ending: GrantEnding;
  /** Wall clock in the tenant's zone, used where `ending` is `at`. */
  readonly endsAt: string;
  /** Wall clock in the tenant's zone; empty starts now. */
  readonly startsAt: string;
  readonly priority: number | string;
  readonly reason: string;
  readonly ticket: string;
}

/** Meters that have an allowance to run out of. */
export const grantableMeters = ({ quotas }: Pick<TenantPolicy, 'quotas'>): string[] => quotas.filter(({ allowance }) => allowance !== null).map(({ meter }) => meter);

export const emptyGrant = (policy: TenantPolicy): GrantValues => ({
  meter: grantableMeters(policy)[0] ?? '',
  units: '',
  ending: 'period',
  endsAt: '',
  startsAt: '',
  priority: 100,
  reason: '',
  ticket: '',
});

type Framed = Pick<TenantPolicy, 'period' | 'timezone'>;

/** When what is left of it lapses; undefined for "until it is spent" and for text that is no time. */
export function grantEndOf({ ending, endsAt }: Pick<GrantValues, 'ending' | 'endsAt'>, policy: Framed): string | undefined {
  if (ending === 'spent') return undefined;
  return ending === 'period' ? new Date(policy.period.endMs).toISOString() : fromLocalInput(endsAt, policy.timezone);
}

function toTopUp(values: GrantValues, policy: Framed): unknown {
  return {
    meter: values.meter,
    units: values.units,
    reason: values.reason,
    priority: values.priority,
    ...(values.ticket.trim() === '' ? {} : { ticket: values.ticket }),
    ...(values.startsAt === '' ? {} : { from: fromLocalInput(values.startsAt, policy.timezone) ?? 'no time' }),
    ...(values.ending === 'spent' ? {} : { expiresAt: grantEndOf(values, policy) ?? 'no time' }),
  };
}

const FIELD_OF: Readonly<Record<string, keyof GrantValues>> = { from: 'startsAt', expiresAt: 'endsAt' };
/** Form field of a member of the contract. */
export const grantFieldOf = (member: string): string => FIELD_OF[member] ?? member;

/** Holds the form against the contract's own schema, so that both refuse the same things. */
export function grantResolver(policy: Framed): Resolver<GrantValues, unknown, NewTopUp> {
  return (values) => {
    const parsed = topUpCreate.safeParse(toTopUp(values, policy));
    const errors: FieldErrors<GrantValues> = {};
    const refuse = (field: string, message: string): void => void setPath(errors, field, { type: 'contract', message });
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues) {
        const field = grantFieldOf(String(path[0]));
        refuse(field, MESSAGES[field] ?? message);
      }
      return { values: {}, errors };
    }
    const { from, expiresAt } = parsed.data;
    if (expiresAt === undefined || Date.parse(expiresAt) > Math.max(Date.now(), Date.parse(from ?? '') || 0)) return { values: parsed.data, errors: {} };
    refuse('endsAt', 'It would end before it begins');
    return { values: {}, errors };
  };
}

const MESSAGES: Readonly<Record<string, string>> = {
  meter: 'Choose a meter',
  units: 'Enter 1 or more whole units',
  priority: 'Enter 0 to 255',
  reason: 'Say why, in 3 to 500 characters',
  startsAt: 'Choose a date and a time',
  endsAt: 'Choose a date and a time after it starts',
};
