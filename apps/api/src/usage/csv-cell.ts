const FORMULA_START = /^[=+\-@\t\r]/;

/**
 * A cell that no spreadsheet takes for a formula: text that starts like one gets a leading apostrophe.
 * Plain numbers stay numbers, also negative ones.
 */
export const safeCell = (text: string): string => (FORMULA_START.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text);
