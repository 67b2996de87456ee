import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSIBLE = /\.(js|css|svg)$/;
const byBrotli = promisify(brotliCompress);
const byGzip = promisify(gzip);

/**
 * Writes `x.br` and `x.gz` beside each script and style, so that the API sends the smallest form and compresses nothing itself.
 * From the written files: in the bundle Vite still fills in what each import preloads.
 */
export function precompress(): Plugin {
  return {
    name: 'quotaplane-precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const paths = Object.keys(bundle).filter((name) => COMPRESSIBLE.test(name)).map((name) => join(dir, name));
      await Promise.all(paths.map(compress));
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  const [br, gz] = await Promise.all([
    byBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
    byGzip(content, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}
