import { listEntryCreate, penaltyCreate } from '@quotaplane/contracts';
import { set as setPath, type FieldErrors, type Resolver } from 'react-hook-form';
import { fromLocalInput, OPERATOR_ZONE } from '../../../format/time';
import type { Listed, NewEntry } from './listed';

export const ENDINGS = ['1h', '24h', '7d', 'at', 'never'] as const;
export type Ending = (typeof ENDINGS)[number];
const ENDING_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** The form; an empty tenant means whichever tenant's caller it is. */
export interface EntryValues {
  readonly list: Listed['list'];
  readonly tenant: string;
  readonly scope: NewEntry['subject']['scope'];
  readonly id: string;
  readonly ending: Ending;
  /** Wall clock of the operator, where `ending` is `at`. */
  readonly endsAt: string;
  readonly reason: string;
  readonly ticket: string;
}

export const emptyEntry = (more: Partial<EntryValues> = {}): EntryValues => ({
  list: 'deny', tenant: '', scope: 'ip', id: '', ending: '24h', endsAt: '', reason: '', ticket: '', ...more,
});

export function endOf({ ending, endsAt }: Pick<EntryValues, 'ending' | 'endsAt'>, nowMs: number): string | undefined {
  if (ending === 'never') return undefined;
  return ending === 'at' ? fromLocalInput(endsAt, OPERATOR_ZONE) : new Date(nowMs + ENDING_MS[ending]).toISOString();
}

const FIELD_OF: Readonly<Record<string, string>> = { 'subject.id': 'id', subject: 'id', until: 'endsAt' };

/** Holds the form against the contract's own schemas, so that both refuse the same things. */
export const entryResolver: Resolver<EntryValues, unknown, NewEntry> = (values) => {
  const nowMs = Date.now();
  const until = endOf(values, nowMs);
  const isPenalty = values.list === 'penalty';
  const body = {
    tenant: values.tenant.trim() === '' ? null : values.tenant.trim(),
    subject: values.scope === 'tenant' ? { scope: values.scope } : { scope: values.scope, id: values.id.trim() },
    reason: values.reason,
    ...(values.ticket.trim() === '' ? {} : { ticket: values.ticket }),
    ...(until === undefined ? (values.ending === 'never' ? {} : { until: 'no time' }) : { until }),
  };
  const parsed = isPenalty ? penaltyCreate.safeParse(body) : listEntryCreate.safeParse({ ...body, list: values.list });
  const errors: FieldErrors<EntryValues> = {};
  if (parsed.success) {
    if (until === undefined || Date.parse(until) > nowMs) return { values: { ...parsed.data, list: values.list }, errors: {} };
    setPath(errors, 'endsAt', { type: 'contract', message: 'It would have ended already' });
    return { values: {}, errors };
  }
  for (const { path, message } of parsed.error.issues) {
    const field = FIELD_OF[path.join('.')] ?? String(path[0]);
    setPath(errors, field, { type: 'contract', message: messageFor(field, values, message) });
  }
  return { values: {}, errors };
};

function messageFor(field: string, { scope, ending }: EntryValues, message: string): string {
  if (field === 'reason') return 'Say why, in 3 to 500 characters';
  if (field === 'endsAt') return ending === 'never' ? 'A penalty must end by itself' : 'Choose a date and a time';
  if (field === 'id') return scope === 'ip' ? 'An address or a range such as 192.0.2.0/24' : scope === 'key' ? 'The id of a key' : 'Name the user';
  return field === 'tenant' ? (message.startsWith('is required') ? 'Name the tenant' : 'A slug such as acme') : message;
}
