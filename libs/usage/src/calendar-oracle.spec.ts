import { figure, IS_FULL, SEED, startPostgres, type TestPostgres } from '@quotaplane/testing';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { periodAt } from './periods';

const ZONES = Intl.supportedValuesOf('timeZone');
const MONTHS = 21 * 12;
const ROWS = figure(2_000, ZONES.length * 31 * MONTHS);
const BATCH = 10_000;
const DAY_MS = 86_400_000;

/**
 * Postgres brings a time-zone database of its own, the runtime another: where only one of the two knows a release that amended a zone, no
 * calendar arithmetic can be right by both. Rows of these zones may differ, and are counted and told; each other difference is ours.
 */
const AMENDED: Readonly<Record<string, string>> = {
  'America/Vancouver': '2026b: no clock change after 2026-03-08, -07 for good',
  'America/Edmonton': '2026c: no clock change after 2026-03-08, -06 for good',
  'Africa/Casablanca': '2026c: +00 for good from 2026-09-20',
  'Africa/El_Aaiun': '2026c: +00 for good from 2026-09-20',
};
/** A runtime that is newer than the list may know amendments that it lacks: they are told, too. */
const LISTED_UP_TO = '2026c';

/** One instant in the period that starts in a month; `month` counts from January 2020. */
interface Row {
  readonly zone: string;
  readonly anchor: number;
  readonly month: number;
  readonly nowMs: number;
}

const row = (zone: string, anchor: number, month: number, day: number, ms: number): Row => ({
  // Four days after the 28th at the earliest, so that the 31st has come in every zone; no later than the 26th day, which even February has.
  zone, anchor, month, nowMs: Date.UTC(2020, month, Math.min(anchor, 28), 12) + day * DAY_MS + ms,
});
const [FIRST_DAY, LAST_DAY] = [4, 25];

function* allRows(): Generator<Row> {
  let number = SEED;
  for (const zone of ZONES) {
    for (let anchor = 1; anchor <= 31; anchor += 1) {
      for (let month = 0; month < MONTHS; month += 1) {
        number = (number * 48_271) % 2_147_483_647;
        yield row(zone, anchor, month, FIRST_DAY + (number % (LAST_DAY - FIRST_DAY + 1)), number % DAY_MS);
      }
    }
  }
}

const someRows = (): Row[] => fc.sample(
  fc.tuple(fc.constantFrom(...ZONES), fc.integer({ min: 1, max: 31 }), fc.nat(MONTHS - 1), fc.integer({ min: FIRST_DAY, max: LAST_DAY }), fc.nat(DAY_MS - 1)),
  { numRuns: ROWS, seed: SEED },
).map((values) => row(...values));

// From an instant to a wall clock there is no ambiguity: the first instant of a date reads that date, and no instant before it does.
const ORACLE = `
  CREATE FUNCTION wall(ms float8, zone text) RETURNS timestamp LANGUAGE sql AS
    $$ SELECT (timestamptz 'epoch' + ms * interval '1 millisecond') AT TIME ZONE zone $$;
  CREATE FUNCTION anchored(month timestamp, anchor int) RETURNS date LANGUAGE sql AS
    $$ SELECT month::date - 1 + least(anchor, extract(day FROM month + interval '1 month' - interval '1 day')::int) $$;
  CREATE FUNCTION is_first_instant(ms float8, day date, zone text) RETURNS boolean LANGUAGE sql AS
    $$ SELECT wall(ms, zone)::date = day AND wall(ms - 1, zone)::date < day AND wall(ms - 10800000, zone)::date < day $$;
`;
const DIFFERENCES = `
  SELECT at::int - 1 AS at, expected.id::text AS expected,
    ARRAY(SELECT to_char(wall(ms, zone), 'YYYY-MM-DD HH24:MI') FROM unnest(ARRAY[start_ms, start_ms - 1, end_ms, end_ms - 1, now_ms]) AS ms) AS walls
  FROM unnest($1::text[], $2::int[], $3::int[], $4::float8[], $5::text[], $6::float8[], $7::float8[]) WITH ORDINALITY AS r(zone, anchor, month, now_ms, id, start_ms, end_ms, at),
    LATERAL (SELECT date_trunc('month', wall(now_ms, zone)) AS this, wall(now_ms, zone)::date AS day) AS today,
    LATERAL (SELECT CASE WHEN anchored(this, anchor) <= day THEN this ELSE this - interval '1 month' END AS month) AS running,
    LATERAL (SELECT anchored(running.month, anchor) AS id, anchored(running.month + interval '1 month', anchor) AS next) AS expected
  WHERE NOT (r.id = expected.id::text AND running.month = timestamp '2020-01-01' + r.month * interval '1 month'
    AND is_first_instant(start_ms, expected.id, zone) AND is_first_instant(end_ms, expected.next, zone))
`;

const runtimeWall = (ms: number, timeZone: string): string => new Intl.DateTimeFormat('sv-SE', {
  timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
}).format(ms);

describe('P12 the calendar', () => {
  let server: TestPostgres;
  let db: pg.Client;
  beforeAll(async () => {
    server = await startPostgres({ migrationsDir: null });
    db = new pg.Client({ connectionString: server.url });
    await db.connect();
    await db.query(ORACLE);
  });
  afterAll(async () => {
    await db.end();
    await server.stop();
  });

  /** @returns zone of each row that differs, told apart by whether the two time-zone databases read the same clock at its instants */
  const differences = async (rows: readonly Row[]): Promise<{ ours: string[]; amended: string[] }> => {
    const periods = rows.map(({ zone, anchor, nowMs }) => periodAt({ timezone: zone, anchorDay: anchor, nowMs }));
    const columns = [rows.map(({ zone }) => zone), rows.map(({ anchor }) => anchor), rows.map(({ month }) => month), rows.map(({ nowMs }) => nowMs),
      periods.map(({ id }) => id), periods.map(({ startMs }) => startMs), periods.map(({ endMs }) => endMs)];
    const found: { ours: string[]; amended: string[] } = { ours: [], amended: [] };
    const reply = await db.query<{ at: number; expected: string; walls: string[] }>(DIFFERENCES, columns);
    for (const { at, expected, walls } of reply.rows) {
      const [asked, period] = [rows[at], periods[at]];
      if (!asked || !period) continue;
      const instants = [period.startMs, period.startMs - 1, period.endMs, period.endMs - 1, asked.nowMs];
      const isAmended = instants.some((ms, index) => runtimeWall(ms, asked.zone) !== walls[index]);
      if (isAmended) found.amended.push(asked.zone);
      else found.ours.push(`${JSON.stringify({ ...asked, ...period })}, expected ${expected}`);
    }
    // Its bounds being right by the oracle, the period must be found from its first ms to its last.
    periods.forEach(({ id, startMs, endMs }, at) => {
      const { zone: timezone = '', anchor: anchorDay = 0 } = rows[at] ?? {};
      const ids = [startMs, endMs - 1].map((nowMs) => periodAt({ timezone, anchorDay, nowMs }).id);
      if (ids.some((each) => each !== id)) found.ours.push(`${timezone} ${anchorDay}: ${id} is ${ids.join(' and ')} at its bounds`);
    });
    return found;
  };

  // Mutation: clip to the 30th; take the month before also on the anchor day itself; today's date in UTC; the later of two midnights (full grid, and C053).
  it(`is that of Postgres for every zone, anchor 1-31 and month of 2020-2040: ${ROWS} rows (seed ${SEED})`, async () => {
    const { rows: names } = await db.query<{ name: string }>('SELECT name FROM pg_timezone_names');
    const known = new Set(names.map(({ name }) => name));
    expect(ZONES.filter((zone) => !known.has(zone))).toEqual([]);
    // Both write a clock alike, or every difference would pass for one of the databases.
    expect(runtimeWall(0, 'UTC')).toBe('1970-01-01 00:00');

    const [ours, amended]: [string[], Map<string, number>] = [[], new Map()];
    let checked = 0;
    const check = async (rows: readonly Row[]): Promise<void> => {
      const found = await differences(rows);
      checked += rows.length;
      ours.push(...found.ours.slice(0, 10));
      for (const zone of found.amended) amended.set(zone, (amended.get(zone) ?? 0) + 1);
    };
    let batch: Row[] = [];
    for (const each of IS_FULL ? allRows() : someRows()) {
      batch.push(each);
      if (batch.length < BATCH) continue;
      await check(batch);
      batch = [];
    }
    await check(batch);

    for (const [zone, count] of amended) console.info(`${zone}: ${count} of ${checked} rows differ, as the time-zone databases do (${AMENDED[zone] ?? 'not listed'}); the runtime has ${process.versions.tz}`);
    expect(ours).toEqual([]);
    expect(checked).toBe(ROWS);
    if ((process.versions.tz ?? '') <= LISTED_UP_TO) expect([...amended.keys()].filter((zone) => !(zone in AMENDED))).toEqual([]);
  }, figure(60_000, 3_600_000));
});
