import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allocateDraws } from './allocation';
import { bySpending, type GrantRow } from './quota-rows';

const date = fc.integer({ min: 0, max: 5 }).map((day) => new Date(Date.UTC(2026, 10, 1 + day)));
const grants = fc.array(fc.record({ priority: fc.integer({ min: 0, max: 2 }), expiresAt: fc.option(date), createdAt: date, available: fc.integer({ min: 0, max: 40 }) }), { maxLength: 8 })
  .map((rows) => rows.map(({ available, ...row }, index) => ({
    available,
    grant: { ...row, id: `grant-${index}`, meter: 'requests', units: 50, from: row.createdAt, withdrawnAt: null, draws: [] } satisfies GrantRow,
  })));

// Mutation: spend in the order in which the grants came; forget to take off what was spent.
it('draws from the lowest priority number, then the soonest-ending, then the oldest, never more than there is', () => {
  fc.assert(fc.property(grants, fc.bigInt({ min: 0n, max: 300n }), (available, need) => {
    const draws = allocateDraws(need, available);
    const sorted = [...available].sort((a, b) => bySpending(a.grant, b.grant));
    const units = sorted.map(({ grant }) => draws.get(grant.id) ?? -1);
    const all = sorted.reduce((sum, row) => sum + row.available, 0);
    expect(sorted.every((row, index) => (units[index] ?? -1) >= 0 && (units[index] ?? Infinity) <= row.available)).toBe(true);
    expect(units.reduce((sum, drawn) => sum + drawn, 0)).toBe(Math.min(Number(need), all));
    // Whoever comes later has nothing drawn while an earlier one has something left.
    const first = units.findIndex((drawn, index) => drawn < (sorted[index]?.available ?? 0));
    if (first >= 0) expect(units.slice(first + 1).every((drawn) => drawn === 0)).toBe(true);
    for (const [index, { grant }] of sorted.entries()) {
      const next = sorted[index + 1]?.grant;
      if (next === undefined || grant.priority !== next.priority) continue;
      const [end, nextEnd] = [grant.expiresAt?.getTime() ?? Infinity, next.expiresAt?.getTime() ?? Infinity];
      expect(end <= nextEnd).toBe(true);
      if (end === nextEnd) expect(grant.createdAt <= next.createdAt).toBe(true);
    }
  }));
});
