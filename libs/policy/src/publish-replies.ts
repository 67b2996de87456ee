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
}
export interface DocumentPublished extends Published {
  readonly revision: number;
  readonly isRedisAhead: boolean;
}

const flag = z.int().transform((value) => value === 1);
/** Integers travel as text, for Lua cuts and rounds numbers in replies. */
const integerText = z.string().regex(/^\d{1,16}$/).transform(Number);
const feedId = z.string().regex(/^\d+-\d+$/);

const tenantReply = z.tuple([flag, integerText, integerText]);
const documentReply = z.tuple([flag, integerText]);

export const parseFlag = (reply: unknown): boolean => flag.parse(reply);
export const parseFeedId = (reply: unknown): string => feedId.parse(reply);

export function parseTenantReply(reply: unknown): Pick<TenantPublished, 'isWritten' | 'revision' | 'generation'> {
  const [isWritten, revision, generation] = tenantReply.parse(reply);
  return { isWritten, revision, generation };
}

export function parseDocumentReply(reply: unknown): Pick<DocumentPublished, 'isWritten' | 'revision'> {
  const [isWritten, revision] = documentReply.parse(reply);
  return { isWritten, revision };
}
