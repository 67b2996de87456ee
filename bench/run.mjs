/** Bundles one bench and runs it: `node bench/run.mjs decisions | http | large [arguments]`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, ...args] = process.argv.slice(2);
const entry = join(root, 'bench', name ?? '', 'main.ts');
if (name === undefined || !existsSync(entry)) {
  console.error(`node bench/run.mjs <decisions | http | large>: there is no bench named ${name ?? '(none)'}`);
  process.exit(2);
}

// The large one carries the control plane along, which needs its database client.
if (name === 'large') execFileSync(process.execPath, [join(root, 'tools/prisma-generate.mjs')], { stdio: 'inherit' });

// Beside the packages that it leaves outside, so that they are found.
const built = mkdtempSync(join(root, 'node_modules', '.bench-'));
try {
  // Decorators and their metadata come from the tsconfig; their helpers are not installed, so the bundle carries them.
  const bundle = await rolldown({ input: entry, tsconfig: join(root, 'tsconfig.base.json'), platform: 'node', external: isNpmPackage, logLevel: 'warn' });
  await bundle.write({ dir: built, format: 'esm', entryFileNames: `${name}.mjs`, chunkFileNames: '[name]-[hash].mjs', keepNames: true });
  const file = join(built, `${name}.mjs`);
  // Imported, not run: scripts that the bundle carries along ask whether they are the program.
  const { status } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', `await import(${JSON.stringify(file)})`, '--', ...args], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(built, { recursive: true, force: true });
}

function isNpmPackage(id) {
  return !/^[./\0]/.test(id) && !id.startsWith('@quotaplane/') && !id.startsWith('@oxc-project/runtime');
}
