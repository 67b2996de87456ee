import { spawnSync } from 'node:child_process';

/** Files of a working tree that Git knows, as paths from its root. @throws {TypeError} it is no working tree */
export function trackedFiles(root) {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (status !== 0) throw new TypeError(`git ls-files in ${root}: ${stderr}`);
  return stdout.split('\0').filter((file) => file !== '');
}
