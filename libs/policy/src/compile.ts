import type { Policy } from '@quotaplane/contracts';
import type { PolicySource } from './source';

export function compile(source: PolicySource): Policy {
  throw new Error(`not built ${source.tenant}`);
}
