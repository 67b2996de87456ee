import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FIXTURE = `lint-fixture-${process.pid}`;

/** Writes known-bad files into a room, lints the room through nx, and removes them whatever happens. */
function lintWith(project: string, folder: string, files: Record<string, string>) {
  const fixture = join(ROOT, folder, FIXTURE);
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(fixture, name)), { recursive: true });
      writeFileSync(join(fixture, name), content);
    }
    const result = run('node_modules/nx/dist/bin/nx.js', ['run', `${project}:lint`, '--skip-nx-cache', '--output-style=static'], ROOT);
    // Only what is said about the fixture counts: a room half written must not make this spec pass.
    return { code: result.code, findings: findingsOf(result.output) };
  } finally {
    rmSync(fixture, { recursive: true, force: true });
  }
}

function run(script: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawnSync(process.execPath, [join(ROOT, script), ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NX_DAEMON: 'false', NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  });
  return { code: child.status, output: child.stdout + child.stderr };
}

/** ESLint prints a file's path on a line of its own and its findings below it. */
function findingsOf(output: string): string {
  const lines = output.split('\n');
  let isFixture = false;
  return lines
    .filter((line) => {
      if (line.startsWith('/')) isFixture = line.includes(FIXTURE);
      return isFixture;
    })
    .join('\n');
}

describe('lint through nx', () => {
  it('fails when an engine imports another engine', () => {
    const { code, findings } = lintWith('rate-limit', 'libs/rate-limit/src', {
      'bad.ts': "import * as policy from '@quotaplane/policy';\nexport const known = policy;\n",
    });
    expect(findings).toContain('@nx/enforce-module-boundaries');
    expect(code).not.toBe(0);
  });

  it('fails when the console imports the guard', () => {
    const { code, findings } = lintWith('console', 'apps/console/src', {
      'bad.ts': "import * as guard from '@quotaplane/guard';\nexport const known = guard;\n",
    });
    expect(findings).toContain('@nx/enforce-module-boundaries');
    expect(code).not.toBe(0);
  });

  it('lets a spec, and nothing else, use the real stores', () => {
    const content = "import * as stores from '@quotaplane/testing';\nexport const known = stores;\n";
    const { findings } = lintWith('usage', 'libs/usage/src', { 'bad.ts': content, 'good.spec.ts': content });
    expect(findings).toContain('bad.ts');
    expect(findings).not.toContain('good.spec.ts');
  });

  it('fails on a circle, on Prisma outside its room, on forwardRef and on a folder named utils', () => {
    const { code, findings } = lintWith('api', 'apps/api/src', {
      'one.ts': "import { two } from './two';\nexport const one = (): unknown => two;\n",
      'two.ts': "import { one } from './one';\nexport const two = (): unknown => one;\n",
      'prisma.ts': "export { PrismaPg } from '@prisma/adapter-pg';\n",
      'ref.ts': "export { forwardRef } from '@nestjs/common';\n",
      'utils/thing.ts': 'export const thing = 1;\n',
    });
    expect(findings).toContain('import-x/no-cycle');
    expect(findings).toContain('Prisma is imported only in apps/api/src/database');
    expect(findings).toContain('A circle between modules is a design fault');
    expect(findings).toContain("'utils' says nothing about its content");
    expect(code).not.toBe(0);
  });

  it('refuses to lint without a project graph, when the boundary rule would be skipped', () => {
    const emptyFolder = mkdtempSync(join(tmpdir(), 'no-graph-'));
    try {
      const { code, output } = run('node_modules/eslint/bin/eslint.js', ['src'], join(ROOT, 'libs/rate-limit'), {
        NX_WORKSPACE_DATA_DIRECTORY: emptyFolder,
      });
      expect(output).toContain('Lint through nx');
      expect(code).not.toBe(0);
    } finally {
      rmSync(emptyFolder, { recursive: true, force: true });
    }
  });
});
