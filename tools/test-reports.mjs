import { existsSync, readFileSync } from 'node:fs';

/** What one stage came to: `failures` holds the names, `skipped` too; `passed` is a number. */
export function outcome(passed, failures = [], skipped = []) {
  return { passed, failures, skipped };
}

/** A stage without tests of its own counts as one. */
export function single(name, code) {
  return code === 0 ? outcome(1) : outcome(0, [`${name} (exit code ${code})`]);
}

/** Reads vitest's JSON report; a run that failed without a failed test (a spec that does not load) still fails. */
export function readVitest(file, code, root) {
  if (!existsSync(file)) return outcome(0, [`vitest wrote no report (exit code ${code})`]);
  const result = outcome(0);
  for (const spec of JSON.parse(readFileSync(file, 'utf8')).testResults) {
    const path = spec.name.replace(root, '');
    for (const test of spec.assertionResults) tally(result, test.status, `${path} > ${test.fullName}`);
    if (spec.status === 'failed' && spec.assertionResults.every((test) => test.status !== 'failed')) {
      result.failures.push(`${path}: ${firstLine(spec.message) || 'did not load'}`);
    }
  }
  return blameExitCode(result, 'vitest', code);
}

/** Reads Playwright's JSON report: suites in suites, a spec with one test per browser project. */
export function readPlaywright(file, code) {
  if (!existsSync(file)) return outcome(0, [`playwright wrote no report (exit code ${code})`]);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const result = outcome(0);
  const visit = (suite, trail) => {
    const here = suite.title ? [...trail, suite.title] : trail;
    for (const spec of suite.specs ?? []) {
      for (const test of spec.tests) tally(result, PLAYWRIGHT_STATUS[test.status], [...here, spec.title].join(' > '));
    }
    for (const inner of suite.suites ?? []) visit(inner, here);
  };
  for (const suite of report.suites) visit(suite, ['e2e']);
  return blameExitCode(result, 'playwright', code);
}

// A flaky test passed in the end only because it was repeated: that is a failure here.
const PLAYWRIGHT_STATUS = { expected: 'passed', unexpected: 'failed', flaky: 'failed', skipped: 'skipped' };

/** Reads the last line of a script that counts for itself: `{"passed":n,"failed":n,"skipped":[names]}`. */
export function readCounts(output, name, code) {
  try {
    const { passed, failed, skipped = [] } = JSON.parse(output.trim().split('\n').at(-1));
    const failures = Array.from({ length: failed }, (_, index) => `${name} ${index + 1} of ${failed}: see its output above`);
    return blameExitCode(outcome(passed, failures, skipped), name, code);
  } catch {
    return outcome(0, [`${name} printed no counts (exit code ${code})`]);
  }
}

function tally(result, status, name) {
  if (status === 'passed') result.passed += 1;
  else if (status === 'failed') result.failures.push(name);
  else result.skipped.push(name);
}

function blameExitCode(result, name, code) {
  if (code !== 0 && result.failures.length === 0) result.failures.push(`${name} (exit code ${code}, no test failed)`);
  return result;
}

function firstLine(text) {
  return (text ?? '').trim().split('\n')[0];
}
