import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCounts, readPlaywright, readVitest } from './test-reports.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-reports-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function report(content: unknown): string {
  const path = join(folder, 'report.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('readVitest', () => {
  it('counts passed tests and names the failed and the skipped', () => {
    const tests = [
      { status: 'passed', fullName: 'a' },
      { status: 'failed', fullName: 'b' },
      { status: 'pending', fullName: 'c' },
    ];
    const path = report({ testResults: [{ name: '/repo/x.spec.ts', status: 'failed', message: '', assertionResults: tests }] });
    expect(readVitest(path, 1, '/repo/')).toEqual({ passed: 1, failures: ['x.spec.ts > b'], skipped: ['x.spec.ts > c'] });
  });

  it('fails for a spec that does not load', () => {
    const path = report({ testResults: [{ name: '/repo/x.spec.ts', status: 'failed', message: 'Cannot find ./y\nat z', assertionResults: [] }] });
    expect(readVitest(path, 1, '/repo/').failures).toEqual(['x.spec.ts: Cannot find ./y']);
  });

  it('fails when the run failed though every test passed', () => {
    const path = report({ testResults: [{ name: '/repo/x.spec.ts', status: 'passed', message: '', assertionResults: [{ status: 'passed', fullName: 'a' }] }] });
    expect(readVitest(path, 1, '/repo/').failures).toHaveLength(1);
  });

  it('fails when there is no report', () => {
    expect(readVitest(join(folder, 'absent.json'), 0, '/repo/').failures).toHaveLength(1);
  });
});

describe('readPlaywright', () => {
  it('reads nested suites and takes a flaky test for a failed one', () => {
    const spec = (title: string, status: string) => ({ title, tests: [{ status }] });
    const inner = { title: 'sign in', specs: [spec('works', 'expected'), spec('at times', 'flaky'), spec('later', 'skipped')] };
    const path = report({ suites: [{ title: 'auth.spec.ts', specs: [], suites: [inner] }] });
    expect(readPlaywright(path, 0)).toEqual({
      passed: 1,
      failures: ['e2e > auth.spec.ts > sign in > at times'],
      skipped: ['e2e > auth.spec.ts > sign in > later'],
    });
  });
});

describe('readCounts', () => {
  it('reads the last line of a script and names what it left out', () => {
    const output = 'packing\n{"passed":2,"failed":1,"skipped":["nest 11"]}\n';
    expect(readCounts(output, 'consumer', 1)).toEqual({ passed: 2, failures: ['consumer 1 of 1: see its output above'], skipped: ['nest 11'] });
  });

  it('fails when the script died before it counted', () => {
    expect(readCounts('packing', 'consumer', 1).failures).toHaveLength(1);
  });
});
