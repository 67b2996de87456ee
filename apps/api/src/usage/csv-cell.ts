const FORMULA_START = /^[=+\-@\t\r]/;
/** What a cell may not hold as it is: as good as none does, so that one look at it is enough. */
const SUSPECT = /^[=+\-@\t\r]|[",\r\n]/;

/**
 * A cell that no spreadsheet takes for a formula: text that starts like one gets a leading apostrophe.
 * Plain numbers stay numbers, also negative ones.
 */
export const safeCell = (text: string): string => (FORMULA_START.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text);

/** A line of CSV with its end. @see RFC 4180, with a line feed alone */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cellText).join(',')}\n`;

const cellText = (text: string): string => {
  if (!SUSPECT.test(text)) return text;
  const safe = safeCell(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
