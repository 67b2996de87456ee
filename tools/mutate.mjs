#!/usr/bin/env node
/**
 * Makes each mutation of tools/mutations in a copy of the working tree, runs the tests that must notice it, and writes docs/mutations.md.
 * An argument picks the mutations whose id, file, spec or promise holds it. `--jobs N` runs N copies at a time, 2 by default.
 * Exits 1 when a mutation survives, cannot be made, or its tests fail without it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readDocument, renderDocument } from './mutations/document.mjs';
import { MUTATIONS } from './mutations/mutations.mjs';
import { runSpec } from './mutations/run-spec.mjs';
import { ScriptLoader } from './mutations/scripts-load.mjs';
import { WorkingCopy } from './mutations/working-copy.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = join(ROOT, 'docs/mutations.md');
const ONE_SPEC_MORE = 2;
const NOT_CODE = /user_script|ReferenceError|SyntaxError/;

const specOf = ({ project, spec }) => `${project} ${spec}`;
const pick = (filter) => MUTATIONS.filter((one) => [one.id, one.what, one.file, one.spec, one.breaks, one.test ?? ''].some((text) => text.includes(filter)));

/** Without any mutation, the test has to be there and to pass, and alone: one that fails anyway, or without its neighbours, notices nothing. */
async function faultWithout(copy, mutation) {
  let fault = '';
  for (let times = 0; times < ONE_SPEC_MORE; times += 1) {
    const { passed, failed, problem, isLate } = await runSpec(copy.folder, mutation);
    fault = problem || (isLate ? 'never ends' : failed.length > 0 ? `fails: ${failed[0]}` : passed.length === 0 ? `no test is called ${mutation.test}` : '');
    if (fault === '') return '';
  }
  return fault;
}

async function attempt(copy, loader, mutation) {
  const undo = copy.apply(mutation);
  try {
    const lua = mutation.file.indexOf('/lua/');
    const fault = lua < 0 ? '' : await loader.faultIn(join(copy.folder, mutation.file.slice(0, lua + 4)));
    if (fault !== '') return ['broken', fault];
    const { failed, reason, isLate, problem } = await runSpec(copy.folder, mutation, true);
    if (isLate) return ['killed late', ''];
    if (problem !== '') return ['broken', problem];
    // A script that stops with an error, or a name that is not there, is no wrong answer that a test has noticed.
    if (NOT_CODE.test(reason)) return ['broken', reason];
    return failed.length > 0 ? ['killed', `${failed[0]}: ${reason.split('\n')[0]}`] : ['survived', ''];
  } finally {
    undo();
  }
}

/** One copy works through the specs that are left, one after another. */
async function work(queue, loader, results) {
  const copy = new WorkingCopy(ROOT);
  try {
    for (let mutations = queue.shift(); mutations !== undefined; mutations = queue.shift()) {
      const faults = new Map();
      for (const mutation of mutations) {
        if (!faults.has(mutation.test)) faults.set(mutation.test, await faultWithout(copy, mutation).catch(String));
        const fault = faults.get(mutation.test);
        if (fault !== '') console.error(`${specOf(mutation)} ${mutation.test ?? ''} without any mutation: ${fault}`);
        const [result, detail] = fault === '' ? await attempt(copy, loader, mutation).catch((error) => ['broken', String(error)]) : ['broken', fault];
        results.set(mutation.id, result);
        console.log(`${result.padEnd(11)} ${mutation.id.padEnd(36)} ${detail.split('\n')[0].slice(0, 260)}`);
      }
    }
  } finally {
    copy.remove();
  }
}

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { jobs: { type: 'string', default: '2' } } });
  const picked = pick(positionals[0] ?? '');
  if (picked.length === 0) throw new RangeError(`no mutation holds ${positionals[0]}`);
  const queue = [...new Set(picked.map(specOf))].map((spec) => picked.filter((one) => specOf(one) === spec));
  const results = new Map();
  const loader = await ScriptLoader.start();
  try {
    await Promise.all(Array.from({ length: Math.min(Number(values.jobs), queue.length) }, () => work(queue, loader, results)));
  } finally {
    await loader.stop();
  }
  const before = readDocument(existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : '');
  const date = picked.length === MUTATIONS.length ? new Date().toISOString().slice(0, 10) : before.date;
  writeFileSync(DOCUMENT, renderDocument(MUTATIONS, new Map([...before.results, ...results]), date));
  const open = picked.filter(({ id }) => !results.get(id)?.startsWith('killed'));
  console.log(`${picked.length - open.length} of ${picked.length} mutations noticed${open.length > 0 ? `; not: ${open.map(({ id }) => id).join(', ')}` : ''}`);
  process.exitCode = open.length > 0 ? 1 : 0;
}

await main();
