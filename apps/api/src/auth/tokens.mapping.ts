import { right, tokenBinding, type Token } from '@quotaplane/contracts';
import type { ApiTokenRow } from '../database/rows';

export function tokenFrom(row: ApiTokenRow): Token {
  return {
    id: row.id, name: row.name, scopes: right.array().parse(row.scopes), binding: tokenBinding.parse(row.binding), hint: row.hint,
    createdAt: row.createdAt.toISOString(), createdBy: row.createdBy,
    expiresAt: row.expiresAt?.toISOString() ?? null, revokedAt: row.revokedAt?.toISOString() ?? null, version: row.version,
  };
}
