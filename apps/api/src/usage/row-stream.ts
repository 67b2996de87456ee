import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify';
import { safeCell } from './csv-cell';

export type StreamFormat = 'csv' | 'ndjson';

/** How rows of one kind are written as CSV. */
export interface CsvForm<R, C extends string> {
  readonly columns: readonly C[];
  readonly cellsOf: (row: R) => Readonly<Record<C, string>>;
}

/** The body of an export: written while it is read and as fast as it is taken, so that its size does not matter. */
export function rowStream<R, C extends string>(rows: AsyncIterable<R>, format: StreamFormat, form: CsvForm<R, C>): Readable {
  if (format === 'ndjson') return Readable.from(ndjsonLines(rows));
  const csv = stringify({ header: true, columns: [...form.columns] });
  const cells = Readable.from(csvRows(rows, form));
  cells.on('error', (error) => csv.destroy(error));
  // A caller who goes away must end the reading, too.
  csv.once('close', () => cells.destroy());
  return cells.pipe(csv);
}

async function* csvRows<R, C extends string>(rows: AsyncIterable<R>, { columns, cellsOf }: CsvForm<R, C>): AsyncGenerator<string[]> {
  for await (const row of rows) {
    const cells = cellsOf(row);
    yield columns.map((column) => safeCell(cells[column]));
  }
}

async function* ndjsonLines<R>(rows: AsyncIterable<R>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}

/** The answer of an export route. @param name of the file, without its ending */
export const exportFile = (body: Readable, format: StreamFormat, name: string): StreamableFile =>
  new StreamableFile(body, {
    type: format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
    disposition: `attachment; filename="${name}.${format}"`,
  });
