import type { Verdict } from '../store';

type Outage = Extract<Verdict, { status: 'unavailable' }>;

export const unavailable = (cause: Outage['cause'], detail: string): Outage => ({ status: 'unavailable', cause, detail });

/** An error reply is the store's own word; every other error of a call means that its connection is gone. */
export const causeOf = (error: unknown): Outage['cause'] => (error instanceof Error && error.name === 'ReplyError' ? 'error' : 'disconnected');
