import { subjectPolicySchema, type SubjectPolicy } from '@quotaplane/contracts';
import { BoundedMap } from './bounded-map';
import { parseJson } from './parse-json';

export interface SubjectCacheOptions {
  /** Default 100,000. Subjects without overrides take a place too: that they have none is what is asked most. */
  readonly maxSubjects?: number;
}

/**
 * Overrides of single keys, users and addresses that this node has read, each under the head it was read with: a new head asks again, and what was
 * known under the old one stands until then. Asked for only where the policy's `subjectScopes` names the scope.
 */
export class SubjectCache {
  private readonly entries: BoundedMap<SubjectPolicy | null>;

  constructor({ maxSubjects = 100_000 }: SubjectCacheOptions = {}) {
    this.entries = new BoundedMap(maxSubjects);
  }

  get size(): number {
    return this.entries.size;
  }

  /**
   * @param field as `subjectField` makes it
   * @returns undefined when it was never read under this head; null when the subject has no overrides
   */
  get(tenant: string, head: string, field: string): SubjectPolicy | null | undefined {
    return this.entries.get(keyOf(tenant, head, field));
  }

  /**
   * Takes what a stale answer brought for the field.
   * @param text null where the hash has no such field
   * @returns `lost` when the text is none of ours: the tenant's own numbers hold for the subject, and the tenant is to be wanted
   */
  accept(tenant: string, head: string, field: string, text: string | null): 'accepted' | 'lost' {
    const policy = text === null ? null : parseJson(subjectPolicySchema, text);
    // Kept also when lost, or each call of the subject would ask again until its rounds are spent.
    this.entries.set(keyOf(tenant, head, field), policy);
    return text !== null && policy === null ? 'lost' : 'accepted';
  }
}

/** Neither a slug nor a head holds a space, so that no two of these meet. */
const keyOf = (tenant: string, head: string, field: string): string => `${tenant} ${head} ${field}`;
