import { expect, it } from 'vitest';
import { emptyEntry, entryResolver, type EntryValues } from './entry-values';

const resolve = (more: Partial<EntryValues>) =>
  entryResolver(emptyEntry({ reason: 'scanner', ...more }), undefined, { fields: {}, shouldUseNativeValidation: false });

it('sends what was typed in the form in which it is kept', async () => {
  const { values } = await resolve({ id: ' 192.0.2.77/24 ', ending: 'never' });
  expect(values).toEqual({ list: 'deny', tenant: null, subject: { scope: 'ip', id: '192.0.2.0/24' }, reason: 'scanner' });
  expect((await resolve({ list: 'allow', scope: 'tenant', tenant: 'acme', ending: 'never' })).values).toMatchObject({ tenant: 'acme', subject: { scope: 'tenant' } });
});

it.each<[Partial<EntryValues>, Partial<Record<keyof EntryValues, string>>]>([
  [{ id: '' }, { id: 'An address or a range such as 192.0.2.0/24' }],
  [{ id: '192.0.2.0/40' }, { id: 'An address or a range such as 192.0.2.0/24' }],
  [{ scope: 'tenant' }, { tenant: 'Name the tenant' }],
  [{ id: '192.0.2.1', tenant: 'Acme Inc' }, { tenant: 'A slug such as acme' }],
  [{ id: '192.0.2.1', reason: '' }, { reason: 'Say why, in 3 to 500 characters' }],
  [{ id: '192.0.2.1', list: 'penalty', ending: 'never' }, { endsAt: 'A penalty must end by itself' }],
  [{ id: '192.0.2.1', ending: 'at', endsAt: '2001-01-01T00:00' }, { endsAt: 'It would have ended already' }],
])('says at the field what is wrong with %j', async (more, expected) => {
  const { errors } = await resolve(more);
  expect(Object.fromEntries(Object.entries(errors).map(([field, error]) => [field, error?.message]))).toEqual(expected);
});
