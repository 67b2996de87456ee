import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { renderScripts } from '../embed-lua.mjs';
import { startRedisServer } from '../stores/index.mjs';

/** A server that tells whether scripts are Lua at all: a test that fails for a missing `end` has shown nothing. */
export class ScriptLoader {
  static async start() {
    const loader = new ScriptLoader();
    loader.dataDir = mkdtempSync(join(tmpdir(), 'quotaplane-scripts-'));
    loader.server = await startRedisServer({ dataDir: loader.dataDir, config: [] });
    loader.redis = new Redis(loader.server.url);
    return loader;
  }

  /** @param {string} folder of `.lua` files @returns {Promise<string>} what is wrong with one of them, '' where nothing is */
  async faultIn(folder) {
    const rendered = renderScripts(folder) ?? '';
    // The module's own text, read back without TypeScript: each source is a template without expressions.
    const sources = [...rendered.matchAll(/source: `((?:[^`\\]|\\[\s\S])*)`/g)].map(([, text = '']) => text.replace(/\\([\\`$])/g, '$1'));
    for (const source of sources) {
      try {
        await this.redis.script('LOAD', source);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    }
    return '';
  }

  async stop() {
    this.redis.disconnect();
    this.server.kill('SIGKILL');
    await this.server.exited;
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
