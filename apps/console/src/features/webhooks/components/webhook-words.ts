import { DELIVERY_WAITS_S, type EventType } from '@quotaplane/contracts';
import { formatSpan } from '../../../format/time';

/** What each event tells, for the form and the log. */
export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  'usage.threshold_reached': 'A tenant reached one of its tier’s thresholds',
  'usage.period_closed': 'A period was closed into a statement',
  'override.ending': 'An override is about to end',
  'tenant.limited': 'A tenant was denied calls in this hour',
};

/** `at once, then after 5 s, 30 s, …`: the published schedule. */
export function scheduleWords(): string {
  const [, ...waits] = DELIVERY_WAITS_S;
  return `at once, then after ${waits.map((seconds) => formatSpan(seconds * 1000)).join(', ')}`;
}

/** Host and path, which is what tells endpoints apart. */
export function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '');
}
