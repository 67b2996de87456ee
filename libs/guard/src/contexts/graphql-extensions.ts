import type { ResponseField } from '../http/ratelimit-fields';

/** Fields of each guarded field of an operation, by its response path such as `search` or `viewer.orders`. */
export type QuotaExtensions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const recorded = new WeakMap<object, Record<string, Record<string, string>>>();

/** @internal Keeps what the fields of one operation were told, as long as its context lives. */
export function recordQuotaExtension(context: object | undefined, path: string, fields: readonly ResponseField[]): void {
  if (typeof context !== 'object' || context === null) return;
  let ofOperation = recorded.get(context);
  if (!ofOperation) recorded.set(context, (ofOperation = {}));
  ofOperation[path] = Object.fromEntries(fields);
}

/** What an operation's guarded fields were told, for `extensions.rateLimit` of its result; undefined where none was guarded. */
export function quotaExtensionsOf(context: object): QuotaExtensions | undefined {
  return recorded.get(context);
}

interface ApolloAnswer {
  readonly contextValue: object;
  readonly response: { readonly body: { readonly kind: string; readonly singleResult?: { extensions?: Record<string, unknown> } } };
}
/** An Apollo Server plugin, as far as it goes here. */
export interface QuotaExtensionsPlugin {
  requestDidStart(): Promise<{ willSendResponse(answer: ApolloAnswer): Promise<void> }>;
}

/**
 * Apollo Server: puts the figures of every guarded field into `extensions.rateLimit` of the result. Errors carry theirs without it.
 * @example GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, plugins: [quotaExtensionsPlugin()] })
 */
export function quotaExtensionsPlugin(): QuotaExtensionsPlugin {
  const willSendResponse = ({ contextValue, response: { body } }: ApolloAnswer): Promise<void> => {
    const rateLimit = quotaExtensionsOf(contextValue);
    if (rateLimit && body.singleResult) body.singleResult.extensions = { ...body.singleResult.extensions, rateLimit };
    return Promise.resolve();
  };
  return { requestDidStart: () => Promise.resolve({ willSendResponse }) };
}
