/** Tenants remembered at most; forgetting one costs its next stale check a second call. */
const TENANTS_MAX = 1_000;

/**
 * Tenants of whom a check named a head that is not current any more. Until one of their checks knows the current head they are asked by the script that
 * brings it in the same call: an edit costs one call more, however many follow it (ADR 1, ADR 19).
 */
export class EditedTenants {
  private readonly tenants = new Set<string>();

  has(tenant: string): boolean {
    return this.tenants.size > 0 && this.tenants.has(tenant);
  }

  add(tenant: string): void {
    if (this.tenants.size >= TENANTS_MAX) this.tenants.clear();
    this.tenants.add(tenant);
  }

  /** A check of the tenant knew the head. */
  settled(tenant: string): void {
    if (this.tenants.size > 0) this.tenants.delete(tenant);
  }
}
