import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { outcome, readCounts, readPlaywright, readVitest, single } from './test-reports.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const REPORTS = join(ROOT, 'dist/reports');
const NX = 'node_modules/nx/dist/bin/nx.js';

/** The stages of `npm test` in their order; each answers what it came to and never throws for a failed test. */
export const STAGES = {
  generate: () => script('tools/prisma-generate.mjs'),
  'drift-lua': () => script('tools/embed-lua.mjs', '--check'),
  'drift-openapi': () => script('tools/openapi.mjs', '--check'),
  typecheck: () => nx('typecheck'),
  lint: () => nx('lint'),
  vitest: () => vitest('vitest.json'),
  build: () => script('tools/build.mjs'),
  story,
  proofs,
  consumers,
  e2e,
};

/** A repository script that is its own check. */
async function script(path, ...args) {
  if (!existsSync(join(ROOT, path))) return absent(path);
  const { code } = await run([path, ...args]);
  return single(path, code);
}

async function nx(target) {
  const { code, output } = await run([NX, 'run-many', '-t', target, '--output-style=static'], { NX_DAEMON: 'false' });
  const failedTasks = [...stripVTControlCharacters(output).matchAll(/^\s*- (\S+:\S+)/gm)].map(([, task]) => task);
  return single([target, ...failedTasks].join(' '), code);
}

async function vitest(reportName, ...args) {
  const report = freshReport(reportName);
  const { code } = await run(['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args]);
  return readVitest(report, code, ROOT);
}

/** The whole product from outside; after the build, so that its start has nothing left to bundle. */
async function story() {
  return outside('story');
}

/** Enforcement over a fleet of nodes. */
async function proofs() {
  return outside('proofs');
}

async function outside(name) {
  const config = `e2e/${name}/vitest.config.ts`;
  return existsSync(join(ROOT, config)) ? vitest(`${name}.json`, '--config', config) : absent(config);
}

async function consumers() {
  const path = 'tools/packed-consumers.mjs';
  if (!existsSync(join(ROOT, path))) return absent(path);
  const { code, output } = await run([path]);
  return readCounts(output, 'packed consumer', code);
}

async function e2e() {
  const config = 'e2e/playwright.config.ts';
  if (!existsSync(join(ROOT, config))) return absent(config);
  const report = freshReport('playwright.json');
  const args = ['node_modules/@playwright/test/cli.js', 'test', '--config', config, '--reporter=list,json'];
  const { code } = await run(args, { PLAYWRIGHT_JSON_OUTPUT_FILE: report });
  return readPlaywright(report, code);
}

/** What is not there is named among the skipped, or a lost file would look like a green check. */
function absent(path) {
  return outcome(0, [], [`${path} is not there`]);
}

/** Last run's report must not be read as this one's when a runner dies early. */
function freshReport(name) {
  mkdirSync(REPORTS, { recursive: true });
  const path = join(REPORTS, name);
  rmSync(path, { force: true });
  return path;
}

/** Runs a Node script, shows its output as it comes, and keeps what it printed to stdout. */
function run(args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}
