import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDocument, renderDocument } from './mutations/document.mjs';
import { MUTATIONS, occurrences } from './mutations/mutations.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = 'docs/mutations.md';
const textOf = (file: string): string => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '');

/** Only that each could be tried: `npm run mutations` tries them. */
describe('mutations', () => {
  // Mutation: change a line of the code that a mutation names.
  it('each find the text they change exactly once', () => {
    expect(MUTATIONS.filter(({ file, find }) => occurrences(textOf(file), find) !== 1).map(({ id, file }) => `${id}: ${file}`)).toEqual([]);
  });

  it('each change it, under a name of their own', () => {
    expect(MUTATIONS.filter(({ find, replace }) => find === replace)).toEqual([]);
    expect(new Set(MUTATIONS.map(({ id }) => id)).size).toBe(MUTATIONS.length);
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(60);
  });

  it('each name a spec that is there', () => {
    const folders = ['libs', 'apps'];
    expect(MUTATIONS.filter(({ project, spec }) => !folders.some((kind) => existsSync(join(ROOT, kind, project, spec)))).map(({ id }) => id)).toEqual([]);
  });

  // Mutation: leave one out of the page, or change its words there by hand; results and date are whatever the last runs gave.
  it(`are listed in ${DOCUMENT} with what came of each`, () => {
    const text = textOf(DOCUMENT);
    const { results, date } = readDocument(text);
    expect(text).toBe(renderDocument(MUTATIONS, results, date));
    expect(MUTATIONS.filter(({ id }) => !results.get(id)?.startsWith('killed')).map(({ id }) => id)).toEqual([]);
  });
});
