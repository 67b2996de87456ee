import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

export interface FailpointBuild {
  /** Such as `api/worker`. */
  entry(name: string): string;
  remove(): Promise<void>;
}

/** The product's processes, bundled as a release is but for the failpoints, which stay in: `QUOTAPLANE_FAILPOINT` kills them. */
export async function buildWithFailpoints(): Promise<FailpointBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'quotaplane-proof-'));
  const bundleOf = (app: string, entries: readonly string[]) => ({
    input: Object.fromEntries(entries.map((entry) => [entry, join(ROOT, `apps/${app}/src/${entry}.ts`)])),
    tsconfig: join(ROOT, `apps/${app}/tsconfig.json`), outDir: join(folder, app), withFailpoints: true,
  });
  const bundles = [bundleOf('api', ['main', 'worker', 'seed']), bundleOf('echo', ['main'])];
  // In a process of its own: the bundler's threads must not take time from the clients of the proof.
  const script = `const { bundle } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'tools/build.mjs')).href)}); for (const one of ${JSON.stringify(bundles)}) await bundle(one);`;
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    entry: (name) => join(folder, `${name}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
