import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMPS = join(ROOT, 'dist/apps/.stamps');
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.git', 'coverage']);
const SPEC = /\.spec\.tsx?$/;

/** Every file below `path` in a stable order, links followed, specs left out; `path` may be one file or absent. */
export function sourceFiles(path) {
  return filesBelow(path, []);
}

function filesBelow(path, foldersAbove) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  const folder = realpathSync(path);
  // A link to a folder above itself has no end.
  if (foldersAbove.includes(folder)) return [];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => (SKIPPED_FOLDERS.has(name) || SPEC.test(name) ? [] : filesBelow(join(path, name), [...foldersAbove, folder])));
}

/**
 * Fingerprint of all that can change a bundle: names and contents, never times, so that a fresh
 * checkout with an old `dist` is judged right.
 * @param paths files and folders, relative to the repository
 */
export function fingerprint(paths) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of paths.flatMap((path) => sourceFiles(join(ROOT, path)))) {
    hash.update(`\0${relative(ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Whether `name` was last built from inputs with this fingerprint and its output still stands. */
export function isFresh(name, print) {
  const stamp = join(STAMPS, name);
  return existsSync(join(ROOT, 'dist/apps', name)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print;
}

export function stamp(name, print) {
  const file = join(STAMPS, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, print);
}
