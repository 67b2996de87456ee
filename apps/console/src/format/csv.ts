/**
 * RFC 4180 text of a table. A cell that a spreadsheet would run as a formula is led by an apostrophe.
 */
export function toCsv(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [header, ...rows]
    .map((row) => row.map(toCell).join(','))
    .join('\r\n')
    .concat('\r\n');
}

function toCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && !/^-?\d+$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Hands a text to the browser as a file. */
export function downloadText(fileName: string, text: string, mediaType = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The download reads the blob after this task; revoking at once would empty it in some browsers.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
