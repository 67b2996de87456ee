import { subjectPolicySchema, type SubjectPolicy } from '@quotaplane/contracts';
import type { KnownSubjects } from './subject-overrides';

interface Remembered {
  head: string;
  text: string | null;
  policy: SubjectPolicy | null;
}

/** Most subjects remembered, those without an override included; past it the one learnt longest ago is asked for again. */
const SUBJECTS_MAX = 50_000;

/** Overrides of single subjects as the store last told them, each under the head that they were read with. */
export class SubjectMemory implements KnownSubjects {
  private readonly entries = new Map<string, Remembered>();

  get(tenant: string, head: string, field: string): SubjectPolicy | null | undefined {
    const known = this.entries.get(`${tenant}/${field}`);
    return known?.head === head ? known.policy : undefined;
  }

  last(tenant: string, field: string): SubjectPolicy | null | undefined {
    return this.entries.get(`${tenant}/${field}`)?.policy;
  }

  accept(tenant: string, fields: readonly string[], { head, subjects }: Parameters<KnownSubjects['accept']>[2]): void {
    fields.forEach((field, index) => this.keep(`${tenant}/${field}`, head, subjects[index] ?? null));
  }

  private keep(id: string, head: string, text: string | null): void {
    const known = this.entries.get(id);
    this.entries.delete(id);
    for (const oldest of this.entries.keys()) {
      if (this.entries.size < SUBJECTS_MAX) break;
      this.entries.delete(oldest);
    }
    // The same text is the same object, so that what hangs on its segments stays, too.
    this.entries.set(id, { head, text, policy: known && known.text === text ? known.policy : parsed(text) });
  }
}

/** What is no override in this release's format counts as none: the tenant's own limits stand. */
function parsed(text: string | null): SubjectPolicy | null {
  if (text === null) return null;
  try {
    return subjectPolicySchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
