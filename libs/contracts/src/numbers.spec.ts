import { describe, expect, it } from 'vitest';
import { instant } from './numbers';

describe('instant', () => {
  // Mutation: drop the refine, and a year reaches Postgres that it cannot keep.
  it.each([
    ['1970-01-01T00:00:00Z', true],
    ['9999-12-31T23:59:59.999Z', true],
    ['2026-11-30T12:00:00+05:45', true],
    ['1969-12-31T23:59:59.999Z', false],
    ['0000-01-01T00:00:00Z', false],
    ['9999-12-31T23:59:59-23:59', false],
    ['2026-02-30T00:00:00Z', false],
    ['2026-11-30', false],
  ])('takes %s: %s', (text, isTaken) => {
    expect(instant.safeParse(text).success).toBe(isTaken);
  });
});
