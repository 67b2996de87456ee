#!/usr/bin/env node
/**
 * `npm test`: everything that CI runs, also on a fresh clone. `npm test -- lint vitest` runs only these stages; `--full` runs the promises with
 * the figures they name, which takes hours.
 *
 * A failed stage does not stop the next. The last line is `N passed, N failed`, with `, N skipped` when something
 * was skipped; the exit code is 1 when anything failed.
 */
import { ensureInstalled } from './install.mjs';
import { STAGES } from './test-stages.mjs';

const asked = process.argv.slice(2);
const chosen = asked.filter((name) => name !== '--full');
if (asked.includes('--full')) process.env.QUOTAPLANE_FULL = '1';
const unknown = chosen.filter((name) => !(name in STAGES));
if (unknown.length > 0) {
  console.error(`No stage ${unknown.join(', ')}; there are: ${Object.keys(STAGES).join(', ')}`);
  process.exit(2);
}

const results = [];
await runStage('install', async () => {
  await ensureInstalled();
  return { passed: 0, failures: [], skipped: [] };
});
if (results[0].failures.length === 0) {
  for (const [name, stage] of Object.entries(STAGES)) {
    if (chosen.length === 0 || chosen.includes(name)) await runStage(name, stage);
  }
}
summarise();

async function runStage(name, stage) {
  console.log(`\n=== ${name}`);
  const startedAt = performance.now();
  const { passed, failures, skipped } = await stage().catch((error) => ({ passed: 0, failures: [`${name}: ${error.message}`], skipped: [] }));
  const seconds = (performance.now() - startedAt) / 1000;
  results.push({ name, passed, failures, skipped, seconds });
  console.log(`=== ${name}: ${failures.length > 0 ? 'FAILED' : 'ok'} in ${seconds.toFixed(1)} s`);
}

function summarise() {
  const failures = results.flatMap((result) => result.failures.map((failure) => `${result.name}: ${failure}`));
  const skipped = results.flatMap((result) => result.skipped.map((name) => `${result.name}: ${name}`));
  const passed = results.reduce((sum, result) => sum + result.passed, 0);

  console.log('\nstage              seconds  passed  failed  skipped');
  for (const { name, seconds, passed: ok, failures: bad, skipped: left } of results) {
    const columns = [seconds.toFixed(1).padStart(7), String(ok).padStart(7), String(bad.length).padStart(7), String(left.length).padStart(8)];
    console.log(`${name.padEnd(19)}${columns.join(' ')}`);
  }
  if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map((name) => `  - ${name}`).join('\n')}`);
  if (failures.length > 0) console.log(`\nFailures:\n${failures.map((name) => `  - ${name}`).join('\n')}`);

  console.log(`\n${passed} passed, ${failures.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}
