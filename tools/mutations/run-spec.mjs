import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A mutation may turn a loop into an endless one. */
const PATIENCE_MS = 240_000;

/**
 * Runs one spec of a working copy.
 * @param {string} folder of the copy
 * @param {{ project: string, spec: string, test?: string | undefined }} which
 * @param {boolean} [isBailing] stop at the first failure
 * @returns {Promise<{ passed: string[], failed: string[], reason: string, isLate: boolean, problem: string }>} full names of tests; `reason` of the first
 * failure; `problem` where the spec itself could not be run
 */
export async function runSpec(folder, { project, spec, test }, isBailing = false) {
  const report = join(folder, 'node_modules', 'mutation-report.json');
  rmSync(report, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, spec, '--reporter=json', `--outputFile.json=${report}`];
  if (test !== undefined) args.push('-t', test);
  if (isBailing) args.push('--bail', '1');
  const { output, isLate } = await run(folder, args);
  if (!existsSync(report)) return { passed: [], failed: [], reason: '', isLate, problem: isLate ? '' : output.slice(-400) };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status) => all.filter((one) => one.status === status).map(({ fullName }) => fullName.trim());
  const [passed, failed] = [named('passed'), named('failed')];
  const [reason = ''] = all.filter(({ status }) => status === 'failed').flatMap(({ failureMessages }) => failureMessages);
  const broken = testResults.map(({ message }) => message ?? '').find((message) => message !== '') ?? '';
  return { passed, failed, reason, isLate, problem: passed.length + failed.length > 0 ? '' : broken || 'no test ran' };
}

function run(cwd, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' }, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    let isLate = false;
    // Its group: the workers of a run that does not end have to end with it.
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-child.pid, 'SIGKILL');
    }, PATIENCE_MS);
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      resolve({ output, isLate });
    });
  });
}
