import { spawnSync } from 'node:child_process';

/** Files of a working tree that Git knows, as paths from its root. @throws {TypeError} it is no working tree */
export const trackedFiles = (root) => listed(root, '--cached');

/** The same and those that are new: what the tree is made of just now. */
export const treeFiles = (root) => listed(root, '--cached', '--others', '--exclude-standard');

function listed(root, ...which) {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-z', ...which], { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (status !== 0) throw new TypeError(`git ls-files in ${root}: ${stderr}`);
  return stdout.split('\0').filter((file) => file !== '');
}
