type Headers = Record<string, string | undefined>;

/** Where the transports of Nest's microservices keep a message's headers. */
interface MessageContext {
  /** TCP and Redis, since Nest 12. */
  getMetadata?(): object | undefined;
  /** gRPC: the context is the call's metadata. */
  getMap?(): object;
  /** NATS */
  getHeaders?(): Iterable<readonly [string, unknown]> | undefined;
  /** Kafka, RabbitMQ */
  getMessage?(): { readonly headers?: object; readonly properties?: { readonly headers?: object } } | undefined;
}

/** Headers of a message by name in lower case; none where its transport has none. */
export function headersOfMessage(transport: unknown): Headers {
  if (typeof transport !== 'object' || transport === null) return {};
  const { getMetadata, getMap, getHeaders, getMessage } = transport as MessageContext;
  const message = getMessage?.call(transport);
  const found: object | undefined =
    getMetadata?.call(transport) ?? getMap?.call(transport) ?? getHeaders?.call(transport) ?? message?.headers ?? message?.properties?.headers;
  if (!found) return {};
  const entries: Iterable<readonly [string, unknown]> = Symbol.iterator in found ? (found as Iterable<readonly [string, unknown]>) : Object.entries(found);
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), textOf(value)]));
}

/** Kafka's values are bytes, those of NATS lists. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return textOf(value[0]);
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
}
