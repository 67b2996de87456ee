import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { treeFiles } from '../cases/tracked-files.mjs';
import { renderScripts } from '../embed-lua.mjs';
import { occurrences } from './mutations.mjs';

/** What the package manager and Vite write beside the packages. */
const NOT_LINKED = new Set(['.bin', '.cache', '.vite', '.vite-temp', '.package-lock.json', '@quotaplane']);

/** Made from files that Git knows, and so not among them. */
const GENERATED = ['apps/api/src/database/generated'];

/** A copy of the working tree in a temporary folder, whose packages are the tree's own by link and whose rooms are the copy's. */
export class WorkingCopy {
  /** @param {string} root of the working tree */
  constructor(root) {
    this.folder = mkdtempSync(join(tmpdir(), 'quotaplane-mutation-'));
    for (const file of treeFiles(root)) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      if (existsSync(join(root, file))) cpSync(join(root, file), join(this.folder, file));
    }
    for (const folder of GENERATED) if (existsSync(join(root, folder))) cpSync(join(root, folder), join(this.folder, folder), { recursive: true });
    const [from, to] = [join(root, 'node_modules'), join(this.folder, 'node_modules')];
    mkdirSync(join(to, '@quotaplane'), { recursive: true });
    for (const name of readdirSync(from)) if (!NOT_LINKED.has(name)) symlinkSync(join(from, name), join(to, name));
    // By name: a room that imports another one has to find the copy's.
    for (const name of readdirSync(join(from, '@quotaplane'))) {
      const room = ['libs', 'apps'].map((kind) => join(this.folder, kind, name)).find(existsSync);
      if (room !== undefined) symlinkSync(room, join(to, '@quotaplane', name));
    }
  }

  /**
   * Changes one file, and the module that its script is embedded in.
   * @param {import('./mutations.mjs').Mutation} mutation
   * @returns {() => void} takes the change back
   * @throws {RangeError} its text is not there exactly once
   */
  apply({ id, file, find, replace }) {
    const path = join(this.folder, file);
    const before = readFileSync(path, 'utf8');
    const count = occurrences(before, find);
    if (count !== 1) throw new RangeError(`${id}: its text is ${count} times in ${file}, not once`);
    // As a function, for `$` means nothing in a replacement here.
    this.write(file, before.replace(find, () => replace));
    return () => this.write(file, before);
  }

  write(file, text) {
    writeFileSync(join(this.folder, file), text);
    if (!file.endsWith('.lua')) return;
    const scripts = join(this.folder, file.slice(0, file.indexOf('/lua/') + 4));
    writeFileSync(join(scripts, 'scripts.generated.ts'), renderScripts(scripts) ?? '');
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
