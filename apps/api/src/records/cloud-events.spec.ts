import { CLOUD_EVENT, CLOUD_EVENT_BATCH } from '@quotaplane/contracts';
import { startPostgres, startRedis, TestClock, type TestPostgres, type TestRedis } from '@quotaplane/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NOW_MS, RecordsRig } from './records-rig';

let postgres: TestPostgres;
let redisServer: TestRedis;
let rig: RecordsRig;
beforeAll(async () => {
  [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  rig = await RecordsRig.over({ postgres, redisServer }, new TestClock());
});
afterAll(async () => {
  await rig?.stop();
  await Promise.all([postgres?.stop(), redisServer?.stop()]);
});
beforeEach(() => rig.forgetAll());

const time = new Date(NOW_MS - 1_000).toISOString();
const event = (part: object = {}): object => ({
  specversion: '1.0', type: 'com.example.rendered', source: '/renderer/7', id: 'e1', subject: 'acme', time, data: { meter: 'frames', units: 4 }, ...part,
});
const HEADERS = { 'ce-specversion': '1.0', 'ce-type': 'com.example.rendered', 'ce-source': '/renderer/7', 'ce-id': 'e1', 'ce-subject': 'acme', 'ce-time': time };
const as = (type: string) => ({ headers: { 'content-type': type } });

describe('a CloudEvent of usage', () => {
  // Mutations: decode no header; make the modes' identities differ, and one event sent in three ways counts three times.
  it('is one and the same event in structured, batched and binary mode', async () => {
    expect((await rig.post(event({ extension: 'ignored', datacontenttype: 'application/json' }), as(`${CLOUD_EVENT}; charset=UTF-8`))).items).toEqual([{ index: 0, source: '/renderer/7', id: 'e1', status: 'counted' }]);
    expect((await rig.post([event(), event({ id: 'e2' })], as(CLOUD_EVENT_BATCH))).statuses).toEqual(['duplicate', 'counted']);
    expect((await rig.post({ meter: 'frames', units: 4 }, { headers: HEADERS })).statuses).toEqual(['duplicate']);
    expect((await rig.post({ meter: 'frames', units: 4 }, { headers: { ...HEADERS, 'ce-id': 'e3', 'ce-traceparent': '00-1' } })).statuses).toEqual(['counted']);
    expect(await rig.sums()).toEqual(['acme 2026-05-01 frames 1: 12 0 0 0']);
    expect(await rig.post([rig.record({ source: '/renderer/7', id: 'e3' })])).toMatchObject({ statuses: ['duplicate'] });
  });

  // Mutations: leave the quotes; decode twice; take malformed text as it is.
  it('reads attributes from headers as the binding says: quoted strings, then one round of percent-decoding', async () => {
    const send = (headers: Record<string, string>) => rig.post({ meter: 'frames', units: 1 }, { headers: { ...HEADERS, ...headers } });
    expect((await send({ 'ce-id': 'Euro%20%E2%82%AC%20%F0%9F%98%80' })).items).toMatchObject([{ id: 'Euro € 😀', status: 'counted' }]);
    expect((await send({ 'ce-id': '"a \\"b\\" c"' })).items).toMatchObject([{ id: 'a "b" c' }]);
    expect((await send({ 'ce-id': '100%2525' })).items).toMatchObject([{ id: '100%25' }]);
    for (const id of ['%C0%A0', '100%', '%zz']) {
      expect(await send({ 'ce-id': id })).toMatchObject({ status: 400, body: { code: 'malformed', detail: 'The header ce-id is not percent-encoded UTF-8' } });
    }
    expect((await send({ 'ce-id': '%00' })).items).toMatchObject([{ status: 'refused', pointer: '/header/ce-id', id: null }]);
  });

  it('is refused with a pointer to what its sender wrote', async () => {
    const cases: [object, string][] = [
      [{ specversion: '0.3' }, '/specversion'], [{ subject: undefined }, '/subject'], [{ subject: 'nobody' }, '/subject'], [{ time: undefined }, '/time'],
      [{ time: '2020-01-01T00:00:00Z' }, '/time'], [{ data: { meter: 'frames', units: 0 } }, '/data/units'], [{ data: { meter: 'frames', units: -1 } }, '/data/reason'],
      [{ data: undefined, data_base64: 'e30=' }, '/data'], [{ data: { meter: 'frames', units: 1, more: 1 } }, '/data/more'], [{ type: undefined }, '/type'],
    ];
    for (const [part, pointer] of cases) {
      const batched = await rig.post([event({ id: 'other' }), event(part)], as(CLOUD_EVENT_BATCH));
      expect(batched.items[1]).toMatchObject({ status: 'refused', pointer: `/1${pointer}` });
      expect((await rig.post(event(part), as(CLOUD_EVENT))).items).toMatchObject([{ status: 'refused', pointer }]);
    }
    const binary = async (data: object, headers: object = {}) => (await rig.post(data, { headers: { ...HEADERS, ...headers } })).items[0];
    expect(await binary({ meter: 'frames', units: 0 })).toMatchObject({ pointer: '/units' });
    expect(await binary({ meter: 'frames' })).toMatchObject({ pointer: '/units' });
    expect(await binary({ meter: 'frames', units: 1 }, { 'ce-subject': 'nobody' })).toMatchObject({ code: 'not_found', pointer: '/header/ce-subject' });
    expect(await binary({ meter: 'frames', units: 1 }, { 'ce-time': 'noon' })).toMatchObject({ pointer: '/header/ce-time' });
    expect(await rig.sums()).toEqual(['acme 2026-05-01 frames 1: 4 0 0 0']);
  });

  it('is refused as a whole where body and media type do not fit, and elsewhere as a media type', async () => {
    expect(await rig.post([event()], as(CLOUD_EVENT))).toMatchObject({ status: 422, body: { errors: [{ pointer: '' }] } });
    expect(await rig.post(event(), as(CLOUD_EVENT_BATCH))).toMatchObject({ status: 422, body: { errors: [{ pointer: '' }] } });
    expect(await rig.post(event())).toMatchObject({ status: 422 });
    expect(await rig.post([event()])).toMatchObject({ status: 200, statuses: ['refused'] });
    expect((await rig.post([rig.record()], as(CLOUD_EVENT_BATCH))).statuses).toEqual(['refused']);
    expect(await rig.post([rig.record()], as('application/cloudevents+avro'))).toMatchObject({ status: 415 });
    for (const type of [CLOUD_EVENT, CLOUD_EVENT_BATCH]) {
      expect(await rig.api.call('POST', '/v1/tiers', { body: { slug: 'x', name: 'x' }, headers: { 'content-type': type } })).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    }
    // Headers of an event mean nothing to a route that takes none.
    expect((await rig.api.call('POST', '/v1/tiers', { body: { slug: 'y', name: 'y' }, headers: HEADERS })).status).toBe(201);
  });

  it('is told from another by its headers under one Idempotency-Key', async () => {
    const send = (id: string) => rig.post({ meter: 'frames', units: 1 }, { headers: { ...HEADERS, 'ce-id': id, 'idempotency-key': 'event' } });
    expect((await send('one')).status).toBe(200);
    expect(await send('two')).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });
});
