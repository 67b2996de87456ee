import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@quotaplane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../outbox/worker-rig';
import { post } from './post-delivery';
import { newSecret, signedHeaders } from './signature';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const secret = newSecret();
let folder: string;
let port: number;
let receiver: ChildProcess;
let output = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quotaplane-receiver-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  port = await freePort();
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8')) ?? [];
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(20);
  writeFileSync(join(folder, 'receiver.mjs'), code.replace('8080', String(port)));
  receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: folder, env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret }, stdio: ['ignore', 'pipe', 'inherit'] });
  receiver.stdout?.on('data', (bytes: Buffer) => (output += bytes.toString()));
});
afterAll(() => {
  receiver.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function send(id: string, signedWith = secret): Promise<number | null> {
  const body = JSON.stringify({ type: 'override.ending', timestamp: new Date().toISOString(), data: { tenant: 'acme' } });
  const headers = signedHeaders({ id, timestampS: Math.floor(Date.now() / 1000), body }, [signedWith]);
  const posted = await post({ url: new URL(`http://127.0.0.1:${port}/`), headers, body, addresses: [{ address: '127.0.0.1', family: 4 }], signal: AbortSignal.timeout(5_000) });
  return posted.status;
}

it('the receiver of docs/webhooks.md takes what we sign, once per id, and refuses what others sign', async () => {
  await eventually(async () => (await send('first')) === 204);
  expect(await send('first')).toBe(204);
  expect(await send('second', newSecret())).toBe(400);
  expect(await send('third')).toBe(204);
  // What it prints comes by a pipe of its own, after the answer or before. A line for the repeat of the first would stand before that of the third.
  await eventually(() => Promise.resolve((output.match(/override\.ending/g) ?? []).length >= 2));
  expect(output.match(/override\.ending/g)).toHaveLength(2);
});
