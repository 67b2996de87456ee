/** Changes of what cuts a tenant's time into periods. @type {import('./mutations.mjs').Mutation[]} */
const CALENDAR = { project: 'usage', spec: 'src/calendar.spec.ts' };
const CHANGE = { project: 'usage', spec: 'src/calendar-change.spec.ts' };
const ORACLE = { project: 'usage', spec: 'src/calendar-oracle.spec.ts' };
const TENANTS = { project: 'api', spec: 'src/tenants/calendars.spec.ts' };
const src = (path) => `libs/usage/src/${path}.ts`;
const PERIODS = src('periods');
const TIMELINE = src('calendar-timeline');

export const CALENDAR_MUTATIONS = [
  { id: 'calendar-later-midnight', what: 'begin a day whose midnight repeats at the later one', file: PERIODS, find: 'date.toZonedDateTime(timezone).epochMilliseconds', replace: "date.toPlainDateTime().toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds", ...CALENDAR, test: 'C053', breaks: 'C053, P12' },
  { id: 'calendar-midnight-an-hour-early', what: 'begin a day whose midnight is missing an hour early', file: PERIODS, find: 'date.toZonedDateTime(timezone).epochMilliseconds', replace: "date.toPlainDateTime().toZonedDateTime(timezone, { disambiguation: 'earlier' }).epochMilliseconds", ...CALENDAR, test: 'C053', breaks: 'C053, P12' },
  { id: 'calendar-today-in-utc', what: 'take today\'s date in UTC', file: PERIODS, find: 'toZonedDateTimeISO(timezone)', replace: "toZonedDateTimeISO('UTC')", ...CALENDAR, test: 'C054', breaks: 'C054, P12' },
  { id: 'calendar-tenant-in-utc', what: 'take a tenant\'s date in UTC', file: PERIODS, find: 'toZonedDateTimeISO(timezone)', replace: "toZonedDateTimeISO('UTC')", ...TENANTS, test: 'C054', breaks: 'C054' },
  { id: 'calendar-begins-a-day-late', what: 'count the anchor day itself to the period before', file: PERIODS, find: 'startDate(month, anchorDay), today) <= 0', replace: 'startDate(month, anchorDay), today) < 0', ...ORACLE, test: 'P12', breaks: 'P12' },
  { id: 'calendar-clipped-at-the-30th', what: 'clip the anchor at the 30th', file: PERIODS, find: 'Math.min(anchorDay, month.daysInMonth)', replace: 'Math.min(anchorDay, 30, month.daysInMonth)', ...ORACLE, test: 'P12', breaks: 'P12' },
  { id: 'calendar-change-at-once', what: 'let a change of calendar hold at once', file: src('calendar-change'), find: 'fromMs: endMs }', replace: 'fromMs: nowMs }', ...CHANGE, test: 'never touches the running period', breaks: 'P12' },
  { id: 'calendar-shortest-of-an-hour', what: 'make a period of the few hours between two zones', file: TIMELINE, find: 'SHORTEST_MS = 26 * 3_600_000', replace: 'SHORTEST_MS = 3_600_000', ...CHANGE, test: 'makes no period of some hours', breaks: 'P12' },
  { id: 'calendar-id-twice', what: 'give a transition an id that is taken', file: TIMELINE, find: 'Temporal.PlainDate.compare(date, dayAfterFormer) < 0 ? dayAfterFormer : date', replace: 'Temporal.PlainDate.compare(date, dayAfterFormer) < -1 ? dayAfterFormer : date', ...CHANGE, test: 'the day after when its date', breaks: 'P12' },
];
