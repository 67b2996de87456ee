import { z } from 'zod';
import type { DocumentPublished, Published, TenantPublished } from './policy-publisher';

const flag = z.int().transform((value) => value === 1);
/** Integers travel as text, for Lua cuts and rounds numbers in replies. */
const integerText = z.string().regex(/^\d{1,16}$/).transform(Number);
const feedId = z.string().regex(/^\d+-\d+$/);

const flagAndId = z.tuple([flag, feedId]);
const tenantReply = z.tuple([flag, integerText, integerText, feedId]);
const documentReply = z.tuple([flag, integerText, feedId]);

export function parseFlagAndId(reply: unknown): Published {
  const [isWritten, position] = flagAndId.parse(reply);
  return { isWritten, position };
}

export function parseTenantReply(reply: unknown): Omit<TenantPublished, 'isRedisAhead'> {
  const [isWritten, revision, generation, position] = tenantReply.parse(reply);
  return { isWritten, revision, generation, position };
}

export function parseDocumentReply(reply: unknown): Omit<DocumentPublished, 'isRedisAhead'> {
  const [isWritten, revision, position] = documentReply.parse(reply);
  return { isWritten, revision, position };
}
