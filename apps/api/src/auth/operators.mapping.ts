import { operatorRole, type Operator } from '@quotaplane/contracts';
import type { OperatorRow } from '../database/rows';

export function operatorFrom(row: OperatorRow): Operator {
  return {
    id: row.id, email: row.email, name: row.name, role: operatorRole.parse(row.role), disabled: row.disabled,
    version: row.version, createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString(),
  };
}
