/** Slots that calls of this process hold, by tenant and wherever they were admitted: what its share of a cap is held against while the store is away. */
export class SlotLedger {
  private readonly held = new Map<string, number>();
  private total = 0;

  /** Over all tenants: a gauge. */
  get inUse(): number {
    return this.total;
  }

  of(tenant: string): number {
    return this.held.get(tenant) ?? 0;
  }

  take(tenant: string): void {
    this.held.set(tenant, this.of(tenant) + 1);
    this.total += 1;
  }

  /** At most once for each {@link take}. */
  giveBack(tenant: string): void {
    const left = this.of(tenant) - 1;
    if (left > 0) this.held.set(tenant, left);
    else this.held.delete(tenant);
    this.total -= 1;
  }
}
