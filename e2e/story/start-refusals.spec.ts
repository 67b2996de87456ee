import { rm } from 'node:fs/promises';
import { freePort } from '@quotaplane/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { runScript, untilEnded, type RunningScript } from './rig/child-process';
import { freshDataDir } from './rig/platform';
import { platform } from './rig/story';

const LIMIT_MS = 60_000;
const folders: string[] = [];
const running: RunningScript[] = [];

async function ownFolder(): Promise<string> {
  const folder = await freshDataDir();
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const script of running.splice(0)) await script.end();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Runs it to its end, which must come by itself: exit code 1 and one line, without a stack. Answers the line. */
async function refusalOf(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const script = runScript(path, { PORT: '0', ECHO_PORT: '0', ...env });
  running.push(script);
  const { code, lines } = await untilEnded(script, LIMIT_MS);
  expect({ code, lines }).toEqual({ code: 1, lines: [expect.any(String)] });
  expect(lines[0]).not.toMatch(/^\s+at |node:internal|\bat file:/);
  return lines[0] ?? '';
}

const portOf = (url: string): string => new URL(url).port;

describe('what cannot start says in one line what to do, and exits with 1', () => {
  it('two starts on one data folder', async () => {
    expect(await refusalOf('tools/start.mjs', { QUOTAPLANE_DATA_DIR: platform.dataDir })).toMatch(/already running from .*Stop it first, or set QUOTAPLANE_DATA_DIR, PORT and ECHO_PORT/);
    // The first one is none the worse for it.
    expect((await fetch(`${platform.apiUrl}/health/ready`)).status).toBe(200);
  });

  it.each([
    ['PORT', () => ({ PORT: portOf(platform.apiUrl) })],
    ['ECHO_PORT', () => ({ ECHO_PORT: portOf(platform.echoUrls[0]) })],
  ])('a taken %s', async (name, env) => {
    const line = await refusalOf('tools/start.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder(), ...env() });
    expect(line).toMatch(new RegExp(`^Port \\d+ is taken\\. .*set ${name} to a free port`));
  });

  it('a port that is none', async () => {
    expect(await refusalOf('tools/start.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder(), PORT: '70000' })).toMatch(/PORT/);
  });

  it.each([
    ['nobody there', async () => `postgresql://nobody:secret-word@127.0.0.1:${await freePort()}/none`],
    ['no address', () => Promise.resolve('localhost:5432')],
    ['another protocol', () => Promise.resolve('mysql://root:secret-word@127.0.0.1/none')],
    ['a server that is no Postgres', () => Promise.resolve(`postgresql://nobody:secret-word@127.0.0.1:${portOf(platform.apiUrl)}/none`)],
  ])('a wrong DATABASE_URL: %s', async (_, url) => {
    const line = await refusalOf('tools/start.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder(), DATABASE_URL: await url() });
    expect(line).toMatch(/Correct (DATABASE_URL|it), or unset it to use the embedded server/);
    expect(line).toContain('DATABASE_URL');
    expect(line).not.toContain('secret-word');
  });

  it.each([
    ['nobody there', async () => `redis://127.0.0.1:${await freePort()}`],
    ['no address', () => Promise.resolve('127.0.0.1')],
    ['a server that is no Redis', () => Promise.resolve(`redis://127.0.0.1:${portOf(platform.apiUrl)}`)],
  ])('a Redis that is not there: %s', async (_, url) => {
    const REDIS_URL = await url();
    expect(await refusalOf('tools/start.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder(), REDIS_URL })).toContain('REDIS_URL');
    expect(await refusalOf('tools/echo.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder(), REDIS_URL })).toContain('REDIS_URL');
  });

  it('one more echo without any Redis, or on a taken port', async () => {
    expect(await refusalOf('tools/echo.mjs', { QUOTAPLANE_DATA_DIR: await ownFolder() })).toMatch(/Set REDIS_URL, or run npm start first/);
    expect(await refusalOf('tools/echo.mjs', { QUOTAPLANE_DATA_DIR: platform.dataDir, ECHO_PORT: portOf(platform.echoUrls[1]) })).toMatch(/^Port \d+ is taken\. .*set ECHO_PORT/);
  });
});
