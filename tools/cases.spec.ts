import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allTests, readCaseTests, testsOf, type CaseTest } from './cases/case-tests.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Kind of fault -> the cases of it that must be tests. */
const KINDS = JSON.parse(readFileSync(new URL('cases/case-kinds.json', import.meta.url), 'utf8')) as Record<string, string[]>;
/** Kind of fault -> tests that make its inputs, so that the kind is held and not the one input. */
const GENERATED = JSON.parse(readFileSync(new URL('cases/generated-inputs.json', import.meta.url), 'utf8')) as Record<string, { file: string; test: string }[]>;
const IDS = Object.values(KINDS).flat();

describe('cases', () => {
  const tests = readCaseTests(ROOT).filter(({ id }) => IDS.includes(id));

  // Mutation: rename or skip the only test of a case.
  it('are all tests by name', () => {
    const tested = new Set(tests.map(({ id }) => id));
    expect(IDS.filter((id) => !tested.has(id))).toEqual([]);
  });

  // Mutation: take the comment from above a case.
  it('each name the change of the code that makes them fail', () => {
    expect(tests.filter(({ mutation }) => mutation === undefined).map(({ file, line, name }) => `${file}:${line} ${name}`)).toEqual([]);
  });

  // Mutation: turn a property into one example, or rename it.
  it('are of kinds whose inputs are also made, by fast-check or by a table', () => {
    expect(Object.keys(GENERATED)).toEqual(Object.keys(KINDS));
    const lost = Object.entries(GENERATED).flatMap(([kind, named]) => named.filter(({ file, test }) => {
      const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '';
      return !allTests(file, text).some(({ name, isGenerated }) => isGenerated && name.includes(test));
    }).map(({ file, test }) => `${kind}: ${file} ${test}`));
    expect(lost).toEqual([]);
  });
});

describe('the scan for cases', () => {
  const found = (text: string): Pick<CaseTest, 'id' | 'name' | 'mutation'>[] =>
    testsOf('x.spec.ts', text).map(({ id, name, mutation }) => ({ id, name, mutation }));

  it('finds a name in every form of a test, in groups and with options', () => {
    expect(found("describe.each([1])('C001 on %s', (n) => { it.each([2])('C002 C003 counts', { retry: 1 }, () => { run('C004'); }); });").map(({ id }) => id)).toEqual(['C001', 'C002', 'C003']);
    expect(found('// C001\nit(`C002 ${kind}`, () => { /* it("C003") */ });')).toMatchObject([{ id: 'C002' }]);
  });

  it('takes no test that does not run', () => {
    expect(found("it.skip('C001', () => {}); it.todo('C002'); describe.skip('a', () => { it('C003', () => {}); });")).toEqual([]);
  });

  it('knows inputs that are made from examples', () => {
    const text = "it('one', () => {}); it.each([1])('two', () => {}); it('three', () => fc.assert(fc.property())); describe.each([1])('g', () => { it('four', () => {}); });";
    expect(allTests('x.spec.ts', text).map(({ isGenerated }) => isGenerated)).toEqual([false, true, true, true]);
  });

  it('reads the mutation above a test, above its group, or at its beginning', () => {
    expect(found("// Mutation: one.\nit('C001', () => {});\nit('C002', () => {});").map(({ mutation }) => mutation)).toEqual(['one.', undefined]);
    expect(found("// Mutations: one;\n// two.\ndescribe('g', () => { it('C001', () => {}); });")).toMatchObject([{ mutation: 'one; two.' }]);
    expect(found("it('C001', async () => {\n  // Mutation: inside.\n  await run();\n});")).toMatchObject([{ mutation: 'inside.' }]);
  });
});
