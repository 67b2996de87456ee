import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { csvLine } from './csv-cell';

export type StreamFormat = 'csv' | 'ndjson';

/** How rows of one kind are written as CSV. */
export interface CsvForm<R, C extends string> {
  readonly columns: readonly C[];
  readonly cellsOf: (row: R) => Readonly<Record<C, string>>;
}

/** Characters of one piece of the body: row by row, the streams themselves would take most of the time. */
const PIECE_LENGTH = 65_536;

/** The body of an export: written while it is read and as fast as it is taken, so that its size does not matter. */
export function rowStream<R, C extends string>(pages: AsyncIterable<readonly R[]>, format: StreamFormat, { columns, cellsOf }: CsvForm<R, C>): Readable {
  if (format === 'ndjson') return Readable.from(pieces(pages, '', (row) => `${JSON.stringify(row)}\n`));
  return Readable.from(pieces(pages, csvLine(columns), (row) => {
    const cells = cellsOf(row);
    return csvLine(columns.map((column) => cells[column]));
  }));
}

async function* pieces<R>(pages: AsyncIterable<readonly R[]>, head: string, lineOf: (row: R) => string): AsyncGenerator<string> {
  let piece = head;
  for await (const page of pages) {
    for (const row of page) {
      piece += lineOf(row);
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

/** The answer of an export route. @param name of the file, without its ending */
export const exportFile = (body: Readable, format: StreamFormat, name: string): StreamableFile =>
  new StreamableFile(body, {
    type: format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
    disposition: `attachment; filename="${name}.${format}"`,
  });
