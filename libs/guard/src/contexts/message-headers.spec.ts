import { describe, expect, it } from 'vitest';
import { headersOfMessage } from './message-headers';

/** The shapes that Nest's transports hand to handlers; each keeps its headers elsewhere and in another form. */
describe('the headers of a message', () => {
  it.each([
    ['TCP', { getMetadata: () => ({ 'X-Api-Key': 'k' }) }],
    ['gRPC', { getMap: () => ({ 'x-api-key': 'k' }) }],
    ['NATS', { getHeaders: () => new Map([['X-Api-Key', ['k', 'other']]]) }],
    ['Kafka', { getMessage: () => ({ headers: { 'x-api-key': Buffer.from('k') } }) }],
    ['RabbitMQ', { getMessage: () => ({ properties: { headers: { 'X-Api-Key': 'k' } } }) }],
  ])('are found for %s', (_transport, context) => {
    expect(headersOfMessage(context)).toEqual({ 'x-api-key': 'k' });
  });

  it.each([[undefined], [{}], [{ getMessage: () => undefined }], [{ getMetadata: () => undefined }], [{ getMap: () => ({ 'x-api-key': 7 }) }], ['text']])('are never a crash: %o', (context) => {
    expect(Object.values(headersOfMessage(context)).filter(Boolean)).toEqual([]);
  });
});
