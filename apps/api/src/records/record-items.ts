import { DomainError, RECORD_AGE_MAX_MS, RECORD_FUTURE_MAX_MS, usageCloudEvent, usageRecord, type UsageRecord, type UsageRecordResult } from '@quotaplane/contracts';
import type { z } from 'zod';
import type { ContentMode } from '../http/cloud-events';
import { fieldErrorsOf } from '../http/field-errors';
import { sentencesFor } from '../http/input-sentences';
import { isStorable, unstorableText } from '../http/text-check';

/** A record of the request that is valid by itself; whether it counts is for the stores to say. */
export interface SentRecord {
  readonly index: number;
  readonly record: UsageRecord;
  readonly at: Date;
  /** Pointer to a field as the caller has written it. */
  readonly pointerTo: (field: keyof UsageRecord) => string;
}

export type SentItem = SentRecord | { readonly refusal: UsageRecordResult };

/** Where a CloudEvent has what a record calls by another name. */
const EVENT_FIELDS: Readonly<Record<keyof UsageRecord, string>> = {
  source: '/source', id: '/id', tenant: '/subject', at: '/time', meter: '/data/meter', units: '/data/units', reason: '/data/reason',
};
const IN_HEADER = /^\/(specversion|type|source|id|subject|time)$/;
/** A longer pointer names what no contract does: the item is pointed at instead. */
const POINTER_MAX = 200;

/**
 * The items of a body, each by itself: a bad one is told and loses none of the others.
 * @throws {DomainError} invalid: the body as a whole is not what its media type says
 */
export function readItems(body: unknown, mode: ContentMode, nowMs: number): SentItem[] {
  if (mode === 'plain' || mode === 'batched') {
    if (!Array.isArray(body)) throw noSuchBody(mode === 'plain' ? 'must be a list of records' : 'must be a list of CloudEvents');
    return body.map((item: unknown, index) => readItem(item, index, mode === 'plain' ? recordOf : eventOf, (pointer) => `/${index}${pointer}`, nowMs));
  }
  if (Array.isArray(body)) throw noSuchBody('must be one CloudEvent; a batch has the media type application/cloudevents-batch+json');
  const pointerOf = (pointer: string): string => {
    if (mode === 'structured') return pointer;
    return IN_HEADER.test(pointer) ? `/header/ce-${pointer.slice(1)}` : pointer.replace(/^\/data/, '');
  };
  return [readItem(body, 0, eventOf, pointerOf, nowMs)];
}

/** A refused item as the answer tells it. Its identity is told where it has one. */
export function refuse(item: unknown, index: number, code: UsageRecordResult['code'], pointer: string, detail: string): UsageRecordResult {
  // The answer may be kept under an Idempotency-Key, and must not hold what Postgres cannot.
  const isFit = pointer.length <= POINTER_MAX && isStorable(pointer);
  return { index, source: identityOf(item, 'source'), id: identityOf(item, 'id'), status: 'refused', code, pointer: isFit ? pointer : `/${index}`, detail };
}

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** How one item is read, whether it is a record or an event that carries one. */
interface Reading {
  readonly read: (item: unknown) => { readonly record: UsageRecord } | { readonly fault: Fault };
  readonly pointerTo: (field: keyof UsageRecord) => string;
}

const recordOf: Reading = {
  read: (item) => {
    const parsed = usageRecord.safeParse(item, { error: sentencesFor(usageRecord) });
    return parsed.success ? { record: parsed.data } : { fault: faultOf(parsed.error) };
  },
  pointerTo: (field) => `/${field}`,
};

const eventOf: Reading = {
  read: (item) => {
    const parsed = usageCloudEvent.safeParse(item, { error: sentencesFor(usageCloudEvent) });
    if (!parsed.success) return { fault: faultOf(parsed.error) };
    const { source, id, subject, time, data } = parsed.data;
    const carried = recordOf.read({ source, id, tenant: subject, at: time, ...data });
    if ('record' in carried) return carried;
    const field = carried.fault.pointer.slice(1);
    return { fault: { ...carried.fault, pointer: isField(field) ? EVENT_FIELDS[field] : carried.fault.pointer } };
  },
  pointerTo: (field) => EVENT_FIELDS[field],
};

function readItem(item: unknown, index: number, reading: Reading, pointerOf: (pointer: string) => string, nowMs: number): SentItem {
  const refused = ({ pointer, detail }: Fault): SentItem => ({ refusal: refuse(item, index, 'invalid', pointerOf(pointer), detail) });
  const [unstorable] = unstorableText(item, '');
  if (unstorable) return refused(unstorable);
  const read = reading.read(item);
  if ('fault' in read) return refused(read.fault);
  const at = new Date(read.record.at);
  const bound = boundOf(at.getTime(), nowMs);
  if (bound !== undefined) return refused({ pointer: reading.pointerTo('at'), detail: bound });
  return { index, record: read.record, at, pointerTo: (field) => pointerOf(reading.pointerTo(field)) };
}

const faultOf = (error: z.ZodError): Fault => fieldErrorsOf(error, '')[0] ?? { pointer: '', detail: 'is invalid' };

function boundOf(atMs: number, nowMs: number): string | undefined {
  if (atMs > nowMs + RECORD_FUTURE_MAX_MS) return `must be at most ${RECORD_FUTURE_MAX_MS / 60_000} minutes ahead`;
  if (atMs < nowMs - RECORD_AGE_MAX_MS) return `must not be older than ${RECORD_AGE_MAX_MS / 86_400_000} days`;
  return undefined;
}

const isField = (name: string): name is keyof UsageRecord => Object.hasOwn(EVENT_FIELDS, name);

function identityOf(item: unknown, member: 'source' | 'id'): string | null {
  const value: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, member) : undefined;
  return typeof value === 'string' && value.length <= POINTER_MAX && isStorable(value) ? value.trim() : null;
}

const noSuchBody = (detail: string): DomainError => new DomainError('invalid', `The body ${detail}`, { errors: [{ pointer: '', detail }] });
