import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { stalePictures } from './draw-algorithms.mjs';

// Fails when a model, a scene or the drawing changes and the committed pictures do not.
it('the pictures of docs/algorithms.md are what the models say today', async () => {
  expect(await stalePictures()).toEqual([]);
});

it('docs/algorithms.md shows only pictures that are there', () => {
  const text = readFileSync(new URL('../docs/algorithms.md', import.meta.url), 'utf8');
  const shown = [...text.matchAll(/\]\((images\/[^)]+)\)/g)].map(([, path]) => path);
  expect(shown.length).toBe(7);
  expect(shown.filter((path) => !existsSync(new URL(`../docs/${path}`, import.meta.url)))).toEqual([]);
});
