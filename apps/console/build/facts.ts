import { isDeepStrictEqual } from 'node:util';
import { runnerImport, type Plugin } from 'vite';

const FACTS = /\.facts\.ts$/;

/**
 * Runs every `*.facts.ts` while building and ships what it exports, in place of what it imports: the first page reads paths and words of
 * the contract without the schema library. In development and in tests the file is the ordinary module that it is.
 * @throws {TypeError} an export is not plain JSON
 */
export function facts(): Plugin {
  return {
    name: 'quotaplane-facts',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      if (!FACTS.test(id)) return null;
      const { module, dependencies } = await runnerImport<Record<string, unknown>>(id, { configFile: false, logLevel: 'error' });
      for (const file of dependencies) this.addWatchFile(file);
      return Object.entries(module).map(([name, value]) => `export const ${name} = ${asJson(name, value)};`).join('\n');
    },
  };
}

function asJson(name: string, value: unknown): string {
  const json = JSON.stringify(value);
  if (!isDeepStrictEqual(JSON.parse(json), value)) throw new TypeError(`${name} is not plain JSON, so it cannot be a fact`);
  return json;
}
