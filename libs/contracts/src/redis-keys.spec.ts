import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { redisKeys } from './redis-keys';

const page = readFileSync(new URL('../../../docs/redis-keys.md', import.meta.url), 'utf8');

const PATTERNS: Record<keyof typeof redisKeys, string> = {
  head: redisKeys.head('tenant'),
  policy: redisKeys.policy('tenant'),
  subjects: redisKeys.subjects('tenant'),
  key: redisKeys.key('<sha256>'),
  classes: redisKeys.classes,
  fallback: redisKeys.fallback,
  lists: redisKeys.lists,
  penalties: redisKeys.penalties,
  wanted: redisKeys.wanted,
  changes: redisKeys.changes,
  nodes: redisKeys.nodes,
  journal: redisKeys.journal('<incarnation>'),
  journals: redisKeys.journals,
  journalsEnded: redisKeys.journalsEnded,
  journalAcks: redisKeys.journalAcks,
  offenders: redisKeys.offenders(0).replace('0', '<minute>'),
  traffic: redisKeys.traffic(0).replace('0', '<minute>'),
};

describe('docs/redis-keys.md', () => {
  it.each(Object.entries(PATTERNS))('lists %s as %s', (_name, pattern) => {
    expect(page).toContain(`| \`${pattern}\` |`);
  });
});
