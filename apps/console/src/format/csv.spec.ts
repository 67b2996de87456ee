import { expect, it } from 'vitest';
import { toCsv } from './csv';

it('quotes what would break a row', () => {
  expect(
    toCsv(
      ['a', 'b'],
      [
        ['x, y', 'say "hi"'],
        [null, 7],
      ],
    ),
  ).toBe('a,b\r\n"x, y","say ""hi"""\r\n,7\r\n');
});

it('disarms a name that a spreadsheet would run', () => {
  expect(toCsv(['name'], [['=HYPERLINK("http://x")'], ['@cmd'], ['-5']])).toBe('name\r\n"\'=HYPERLINK(""http://x"")"\r\n\'@cmd\r\n-5\r\n');
});
