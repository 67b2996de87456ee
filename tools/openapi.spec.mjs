import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from '@readme/openapi-parser';
import { expect, it } from 'vitest';
import { isOpenApiFresh } from './openapi.mjs';

const DOCUMENT = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/api/openapi.json');

it('is what the routes of libs/contracts say', async () => {
  expect(await isOpenApiFresh()).toBe(true);
});

it('is valid OpenAPI 3.1', async () => {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(await validate(document)).toMatchObject({ valid: true, warnings: [] });
});
