import type { EventType } from '@quotaplane/contracts';
import type { Tx } from '../database/prisma.service';

/** Something that happened. `dedupeKey` names it, so that it is recorded once however often it is noticed. */
export interface HappenedEvent {
  readonly type: EventType;
  readonly tenant: string | null;
  readonly dedupeKey: string;
  readonly at: Date;
  /** JSON: what subscribers are told. */
  readonly data: object;
}

/**
 * Records events in the transaction that makes them true; what is known already changes nothing. Sorted by key, so that two recorders never deadlock.
 * @returns how many were new
 */
export async function recordEvents(tx: Tx, events: readonly HappenedEvent[]): Promise<number> {
  if (events.length === 0) return 0;
  const data = [...events].sort((a, b) => (a.dedupeKey < b.dedupeKey ? -1 : 1)).map((event) => ({ ...event, data: { ...event.data } }));
  return (await tx.event.createMany({ data, skipDuplicates: true })).count;
}
