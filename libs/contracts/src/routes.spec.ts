import { describe, expect, it } from 'vitest';
import { formatHead, parseHead } from './policy';
import { ROLE_RIGHTS } from './rights';
import type { RouteContract } from './route';
import { routes } from './routes';

const table: readonly (readonly [string, RouteContract])[] = Object.entries(routes);
const NOT_IDEMPOTENT = ['signIn', 'signOut'];

describe('routes', () => {
  it('has one route per method and path', () => {
    const ids = table.map(([, route]) => `${route.method} ${route.path}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(table)('%s asks for If-Match on edits, takes Idempotency-Key on creating POSTs and declares its path parameters', (id, route) => {
    const isEdit = route.method === 'PATCH' || route.method === 'PUT' || route.method === 'DELETE';
    expect(route.ifMatch ?? false).toBe(isEdit);
    expect(route.idempotent ?? false).toBe(route.method === 'POST' && !NOT_IDEMPOTENT.includes(id));
    const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(route.params?.shape ?? {})).toEqual(named);
  });

  it('gives writes to no role but support (overrides, keys, penalties, top-ups) and admin', () => {
    expect(ROLE_RIGHTS.viewer.some((right) => right.endsWith(':write'))).toBe(false);
    expect(ROLE_RIGHTS.billing.some((right) => right.endsWith(':write'))).toBe(false);
    expect(ROLE_RIGHTS.support.filter((right) => right.endsWith(':write'))).toEqual(['overrides:write', 'keys:write', 'penalties:write', 'topups:write']);
  });
});

describe('heads', () => {
  it('round-trips revision and generation and knows its tombstones from them', () => {
    expect(parseHead(formatHead(12, 3))).toEqual({ revision: 12, generation: 3 });
    expect(['unknown', 'deleted', '', '1', '1.2.3', '-1.2', '1.x'].map(parseHead)).toEqual(Array(7).fill(null));
  });
});
