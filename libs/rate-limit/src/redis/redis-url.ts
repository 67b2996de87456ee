export interface ClusterAddress {
  readonly kind: 'cluster';
  /** Where to ask for the map of slots; the rest of the cluster is learnt from it. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The same for every node. */
  readonly credentials: { readonly username?: string; readonly password?: string; readonly tls?: object };
}
export type RedisAddress = { readonly kind: 'single'; readonly url: string } | ClusterAddress;

/**
 * Reads `REDIS_URL`. A comma-separated list of URLs, or one with `?cluster=true`, is a Redis Cluster; user, password and TLS are taken from the
 * first URL that has them and serve for all nodes.
 * @throws {RedisUrlError} a URL of another kind, or a cluster with a database number, which no cluster has
 */
export const parseRedisUrl = (text: string): RedisAddress => {
  const parts = text.split(',').map((part) => part.trim()).filter((part) => part !== '');
  const [first] = parts;
  if (first === undefined) throw new RedisUrlError('it is empty');
  // Sockets and ioredis' own short forms stay what they were.
  if (parts.length === 1 && !/[?&]cluster=true(&|$)/.test(first)) return { kind: 'single', url: first };
  const urls = parts.map(clusterUrl);
  const signed = urls.find((url) => url.username !== '' || url.password !== '');
  return {
    kind: 'cluster',
    nodes: urls.map((url) => ({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) })),
    credentials: {
      ...(signed?.username ? { username: decodeURIComponent(signed.username) } : {}),
      ...(signed?.password ? { password: decodeURIComponent(signed.password) } : {}),
      ...(urls.some((url) => url.protocol === 'rediss:') ? { tls: {} } : {}),
    },
  };
};

const clusterUrl = (text: string): URL => {
  if (!URL.canParse(text)) throw new RedisUrlError('a node of a cluster is written redis://host:port');
  const url = new URL(text);
  if (!['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') throw new RedisUrlError('a node of a cluster is written redis://host:port');
  if (!['', '/', '/0'].includes(url.pathname)) throw new RedisUrlError('a Redis Cluster has only database 0');
  return url;
};

/** The address of the store cannot be read. The message never holds it, for it may hold a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError';
  constructor(why: string) {
    super(`The Redis address cannot be read: ${why}`);
  }
}
