import { readCachedProjectGraph } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import house from './tools/lint-rules.mjs';

/**
 * Without a cached project graph the boundary rule skips every file in silence and lint is green for nothing.
 * Throws, so that `eslint` on its own says how to lint instead.
 */
function requireProjectGraph() {
  try {
    readCachedProjectGraph();
  } catch (cause) {
    throw new Error('No project graph: the boundary rule would be skipped. Lint through nx: npx nx run-many -t lint', { cause });
  }
}
requireProjectGraph();

/** Who may know whom; a spec may also use the real stores of libs/testing. */
const DIRECTIONS = {
  'type:contracts': [],
  'type:engine': ['type:contracts'],
  'type:guard': ['type:contracts', 'type:engine'],
  'type:app-api': ['type:contracts', 'type:engine', 'type:guard'],
  'type:app-echo': ['type:guard'],
  'type:console': ['type:contracts'],
  'type:testing': [],
  'type:tools': ['type:contracts', 'type:engine', 'type:guard', 'type:testing'],
  'type:e2e': ['type:contracts', 'type:testing'],
  'type:bench': ['type:contracts', 'type:engine', 'type:guard', 'type:testing'],
};

function boundaries({ extraTags = [], allow = [] } = {}) {
  const depConstraints = Object.entries(DIRECTIONS).map(([sourceTag, tags]) => ({
    sourceTag,
    onlyDependOnLibsWithTags: [...tags, ...extraTags],
  }));
  return ['error', { allow, enforceBuildableLibDependency: false, depConstraints }];
}

const FORBIDDEN_IMPORTS = {
  paths: [{ name: '@nestjs/common', importNames: ['forwardRef'], message: 'A circle between modules is a design fault: split the room.' }],
};
const PRISMA_IMPORTS = {
  group: ['@prisma/*', 'prisma', '**/generated', '**/generated/**'],
  message: 'Prisma is imported only in apps/api/src/database.',
};

const SOURCES = ['**/*.ts', '**/*.tsx', '**/*.mts'];
const SPECS = ['**/specs/**/*.ts', '**/*.spec.ts', '**/*.spec.tsx', '**/*.spec.mjs'];

export default tseslint.config(
  {
    ignores: ['**/dist/**', '**/node_modules/**', '**/.nx/**', '**/*.generated.ts', '**/generated/**', '**/coverage/**', '**/test-results/**', '**/playwright-report/**'],
  },
  { linterOptions: { noInlineConfig: true } },
  tseslint.configs.recommended,
  {
    files: [...SOURCES, '**/*.mjs'],
    plugins: { '@nx': nx, 'import-x': importX, house },
    settings: {
      'import-x/resolver-next': [createTypeScriptImportResolver({ project: ['apps/*/tsconfig.json', 'libs/*/tsconfig.json'], noWarnOnMultipleProjects: true })],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts', '.tsx', '.mts'] },
      'import-x/extensions': ['.ts', '.tsx', '.mts', '.mjs'],
    },
    rules: {
      '@nx/enforce-module-boundaries': boundaries(),
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': true, 'ts-ignore': true, 'ts-nocheck': true, 'ts-check': false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'house/no-vague-names': 'error',
      'import-x/no-cycle': 'error',
      'no-restricted-imports': ['error', { ...FORBIDDEN_IMPORTS, patterns: [PRISMA_IMPORTS] }],
    },
  },
  {
    // The one room that may know Prisma; repository tools drive its engine.
    files: ['apps/api/src/database/**', 'tools/**', 'prisma/**', 'libs/testing/**'],
    rules: { 'no-restricted-imports': ['error', FORBIDDEN_IMPORTS] },
  },
  {
    // One code starts the stores of `npm start` and of the specs; it is a script, not a package.
    files: ['libs/testing/src/**'],
    rules: { '@nx/enforce-module-boundaries': boundaries({ allow: ['../../../tools/**'] }) },
  },
  {
    // Decisions are measured without a web framework: below the guard's doors, at what all of them go through.
    files: ['bench/decisions/contenders/**'],
    rules: { '@nx/enforce-module-boundaries': boundaries({ allow: ['../../../libs/guard/src/**'] }) },
  },
  {
    files: SPECS,
    ignores: ['libs/testing/**'],
    rules: {
      '@nx/enforce-module-boundaries': boundaries({ extraTags: ['type:testing'] }),
      // A contract that the compiler must refuse is a guarantee too; the description says which.
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
    },
  },
);
