import type { Node } from '@quotaplane/contracts';
import { expect, it } from 'vitest';
import { liveFirst } from './rollout.queries';

const node = (service: string, alive: boolean, startedAt: string): Node => ({
  incarnation: service,
  service,
  kind: 'service',
  version: '0.1.0',
  host: 'vm',
  pid: 1,
  startedAt,
  lastSeen: startedAt,
  mode: 'healthy',
  position: '1-0',
  alive,
});

it('puts nodes that are alive before silent ones, the last to start first', () => {
  const nodes = [
    node('gone', false, '2026-11-30T12:00:00Z'),
    node('older', true, '2026-11-30T10:00:00Z'),
    node('newer', true, '2026-11-30T11:00:00Z'),
  ];
  expect(liveFirst(nodes).map(({ service }) => service)).toEqual(['newer', 'older', 'gone']);
});
