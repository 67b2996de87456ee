import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderScripts } from './embed-lua.mjs';
import { stripLua } from './lua-source.mjs';

describe('stripLua', () => {
  it('keeps every line on its number', () => {
    const source = '--[[ head\nmore ]]\nlocal a = 1 -- one\n\n  if a then\n    return a\n  end\n';
    expect(stripLua(source)).toBe('\n\nlocal a = 1\n\nif a then\nreturn a\nend\n');
  });

  it('leaves dashes, quotes and escapes inside text alone', () => {
    const source = `local a = '--no' .. "it\\"s -- \\\\" .. [==[ -- kept\n  so ]] ]==] -- gone`;
    expect(stripLua(source)).toBe(`local a = '--no' .. "it\\"s -- \\\\" .. [==[ -- kept\n  so ]] ]==]`);
  });

  it('does not take a subtraction of a negative or an index for a comment or bracket', () => {
    expect(stripLua('local a = b - -c\nlocal d = e[f[1]]')).toBe('local a = b - -c\nlocal d = e[f[1]]');
  });

  it('refuses text that is not closed', () => {
    expect(() => stripLua("local a = 'b\n")).toThrow('not closed');
    expect(() => stripLua('--[[ b')).toThrow('not closed');
  });
});

describe('renderScripts', () => {
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'embed-lua-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('exports source and its SHA-1 under the name of the file', async () => {
    writeFileSync(join(folder, 'look-up.lua'), '--[[ look-up: `${x}` ]]\nreturn "\\n`${a}"\n');
    const target = join(folder, 'scripts.mjs');
    writeFileSync(target, renderScripts(folder).replace(' as const', '').replace(/export type.*\n/, ''));
    const { SCRIPTS } = await import(target);
    const { source, sha1 } = SCRIPTS['look-up'];
    expect(source).toBe('\nreturn "\\n`${a}"\n');
    expect(sha1).toBe(createHash('sha1').update(source).digest('hex'));
  });

  it('puts fragments where a script includes them, and takes none for a script', () => {
    mkdirSync(join(folder, 'parts'));
    writeFileSync(join(folder, 'parts', 'one.lua'), '-- a fragment\nlocal one = 1\n');
    writeFileSync(join(folder, 'look-up.lua'), '--[[ look-up ]]\nif true then\n  --@include one.lua\nend\nreturn 1\n');
    const rendered = renderScripts(folder);
    expect(rendered).toContain('\nif true then\n\nlocal one = 1\nend\nreturn 1\n');
    expect(rendered.match(/sha1/g)).toHaveLength(1);
  });

  it('refuses a script without a header that names it', () => {
    writeFileSync(join(folder, 'look-up.lua'), 'return 1\n');
    expect(() => renderScripts(folder)).toThrow('must begin with a header');
  });

  it('renders nothing for a folder without scripts', () => {
    expect(renderScripts(folder)).toBeNull();
  });
});
