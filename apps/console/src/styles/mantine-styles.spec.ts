import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('..', import.meta.url));
const CORE = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css'));
const read = (path: string): string => readFileSync(path, 'utf8');
const textsIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith(ending)).map((path) => read(join(folder, path)));

/** Components that the console names, of the core and of the packages that are made of it. */
function namedComponents(): string[] {
  const packages = ['notifications', 'spotlight'].flatMap((name) => textsIn(join(CORE, '..', name, 'esm'), '.mjs'));
  return [...textsIn(SRC, '.tsx'), ...packages].flatMap((text) =>
    [...text.matchAll(/import \{([^}]+)\} from ['"]@mantine\/core['"]/g)].flatMap(([, names = '']) => names.split(',').map((name) => name.trim().split(' ')[0] ?? '')),
  );
}

/** A component and all that it is made of, by its imports; another one's context has nothing to style, nor has its plain icon. */
function withParts(name: string, found: Set<string>): void {
  const folder = join(CORE, 'esm', 'components', name);
  if (found.has(name) || !existsSync(folder)) return;
  found.add(name);
  for (const text of textsIn(folder, '.mjs')) {
    for (const [, part = ''] of text.matchAll(/from "(?:\.\.\/)+([A-Z]\w+)\/(?:\w+\/)*\1(?!Icon|Chevron)\w*\.mjs"/g)) withParts(part, found);
  }
}

it('styles every component that is used, and what each is made of', () => {
  const imported = ['first', 'fields', 'late'].map((name) => read(join(SRC, 'styles', `${name}.ts`))).join('');
  const found = new Set<string>();
  for (const name of namedComponents()) withParts(name, found);
  expect(found.size).toBeGreaterThan(25);
  const unstyled = [...found].filter((name) => existsSync(join(CORE, 'styles', `${name}.layer.css`)) && !imported.includes(`/${name}.layer.css'`));
  expect(unstyled).toEqual([]);
});
