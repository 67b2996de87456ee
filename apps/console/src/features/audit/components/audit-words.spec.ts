import { describe, expect, it } from 'vitest';
import { entityName } from './audit-words';

const entry = { tenant: null, entity: { type: 'token', id: '4d27a690' }, before: null, after: null };

describe('what an entry is about', () => {
  it('is the name people know, not an id', () => {
    expect(entityName({ ...entry, after: { name: 'billing' } })).toBe('billing');
    expect(entityName({ ...entry, before: { name: 'Ada', email: 'ada@example.com' }, after: null })).toBe('ada@example.com');
    expect(entityName({ ...entry, tenant: 'hobby', after: { name: 'launch key' } })).toBe('hobby');
  });

  it('is the id where no name was kept', () => {
    expect(entityName(entry)).toBe('4d27a690');
  });
});
