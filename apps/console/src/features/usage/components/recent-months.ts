export interface MonthChoice {
  readonly value: string;
  readonly label: string;
}

/** The last twelve months, newest first, this one included. */
export function recentMonths(nowMs: number): MonthChoice[] {
  const now = new Date(nowMs);
  return Array.from({ length: 12 }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value: month.toISOString().slice(0, 7), label: month.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }) };
  });
}
