import { z } from 'zod';

/** What a publish left in Redis. */
export interface Published {
  /** False when the store already held this or something newer. */
  readonly isWritten: boolean;
  /** Feed id that receipts are compared with. */
  readonly position: string;
}
export interface TenantPublished extends Published {
  /** Revision and generation in Redis now. */
  readonly revision: number;
  readonly generation: number;
  /**
   * Redis holds a higher revision or generation than was published. Under the tenant's row lock this means that Postgres is behind:
   * raise the row above both, raise the alarm, publish again. Without the lock it may only mean that somebody was faster.
   */
  readonly isRedisAhead: boolean;
  /** The head that this publication met, before it wrote; null where there was none, or none of ours. */
  readonly headMet: string | null;
}
export interface DocumentPublished extends Published {
  readonly revision: number;
  readonly isRedisAhead: boolean;
}

const flag = z.int().transform((value) => value === 1);
/** Integers travel as text, for Lua cuts and rounds numbers in replies. */
const integerText = z.string().regex(/^\d{1,16}$/).transform(Number);
const feedId = z.string().regex(/^\d+-\d+$/);

const tenantReply = z.tuple([z.enum(['1', '0', '-1']), integerText, integerText, z.string()]);
const documentReply = z.tuple([flag, integerText]);

export const parseFlag = (reply: unknown): boolean => flag.parse(reply);
export const parseFeedIds = (reply: unknown, count: number): string[] => z.array(feedId).length(count).parse(reply);

/** What `publish-policies` says of each tenant. `isTurn`: false where another publisher's overrides of single subjects are in the way. */
export function parseTenantReplies(reply: unknown): (Pick<TenantPublished, 'isWritten' | 'revision' | 'generation' | 'headMet'> & { readonly isTurn: boolean })[] {
  const flat = z.array(z.string()).parse(reply);
  return Array.from({ length: Math.floor(flat.length / 4) }, (_, index) => {
    const [written, revision, generation, met] = tenantReply.parse(flat.slice(index * 4, index * 4 + 4));
    return { isWritten: written === '1', isTurn: written !== '-1', revision, generation, headMet: met === '' ? null : met };
  });
}

export function parseDocumentReply(reply: unknown): Pick<DocumentPublished, 'isWritten' | 'revision'> {
  const [isWritten, revision] = documentReply.parse(reply);
  return { isWritten, revision };
}
