const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
  formats.set(key, made);
  return made;
}

/** Zone of this browser, for pages that are about no single tenant. */
export const OPERATOR_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export type Instant = string | number;
const toDate = (at: Instant): Date => new Date(at);

/** `14 Nov 2026, 09:30 CET`: in the zone, and saying which. */
export function formatInstant(at: Instant, timeZone: string): string {
  const wall = formatOf(timeZone, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false });
  return `${wall.format(toDate(at))} ${zoneName(at, timeZone)}`;
}

/** `09:30:12` in the zone, for lists of a single day. */
export function formatClock(at: Instant, timeZone: string): string {
  return formatOf(timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }).format(toDate(at));
}

/** `1 Nov 2026` in the zone. */
export function formatDay(at: Instant, timeZone: string): string {
  return formatOf(timeZone, { day: 'numeric', month: 'short', year: 'numeric' }).format(toDate(at));
}

/** Exact UTC, for hover: `2026-11-14 08:30:12 UTC`. */
export function formatUtc(at: Instant): string {
  return toDate(at)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

/** Offset as people write it there: `CET`, `GMT-3`. */
export function zoneName(at: Instant, timeZone: string): string {
  const parts = formatOf(timeZone, { hour: '2-digit', timeZoneName: 'short' }).formatToParts(toDate(at));
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? timeZone;
}

const SPANS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** The two largest parts of a span of time: `3 h 12 min`, `45 s`; below one second `0 s`. */
export function formatSpan(spanMs: number): string {
  const whole = Math.max(0, spanMs);
  const first = SPANS.findIndex(([, size]) => whole >= size);
  if (first === -1) return '0 s';
  const [word, size] = SPANS[first] ?? SPANS[3];
  const amount = Math.floor(whole / size);
  const next = SPANS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[1]);
  return next === undefined || rest === 0 ? `${amount} ${word}` : `${amount} ${word} ${rest} ${next[0]}`;
}

/** `2 min ago`, `in 3 h 12 min`, `now`. */
export function formatRelative(at: Instant, nowMs: number): string {
  const distanceMs = toDate(at).getTime() - nowMs;
  if (Math.abs(distanceMs) < 1000) return 'now';
  return distanceMs > 0 ? `in ${formatSpan(distanceMs)}` : `${formatSpan(-distanceMs)} ago`;
}

/** `2026-11-14T09:30`, what a wall clock in the zone shows. */
export function toLocalInput(at: Instant, timeZone: string): string {
  const parts = formatOf(timeZone, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(toDate(at));
  const part = (type: string): string => parts.find((found) => found.type === type)?.value ?? '00';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
}

/** Last day of a period whose end is the first instant after it. */
export const lastInstant = (end: Instant): number => toDate(end).getTime() - 1;

/**
 * The instant at which a wall clock in the zone shows `local`, to the minute or the second; undefined for text that is no local time.
 * Where the clock jumps forward over it, the instant just after the jump; where it shows it twice, the first.
 */
export function fromLocalInput(local: string, timeZone: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(local)) return undefined;
  const wallMs = Date.parse(`${local}Z`);
  if (Number.isNaN(wallMs)) return undefined;
  // Zones are whole minutes off UTC, and the wall clock read back has no seconds.
  const offsetAt = (atMs: number): number => Date.parse(`${toLocalInput(atMs, timeZone)}:00Z`) - Math.floor(atMs / 60_000) * 60_000;
  const candidates = [wallMs - offsetAt(wallMs - 86_400_000), wallMs - offsetAt(wallMs + 86_400_000)].sort((a, b) => a - b);
  const found = candidates.find((atMs) => toLocalInput(atMs, timeZone) === local.slice(0, 16)) ?? candidates[1];
  return found === undefined ? undefined : new Date(found).toISOString();
}
