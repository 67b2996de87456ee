import type { DecisionSource, FailMode } from '@quotaplane/contracts';

/** What one degraded decision was; of the same class and second only the first is written, the rest are counted. */
export interface DegradedEvent {
  readonly class: string;
  readonly mode: FailMode;
  readonly source: DecisionSource;
  readonly detail: string;
}
export type WriteDegraded = (event: DegradedEvent & { readonly count: number }) => void;

/** One line of text: readable under Nest's own logger, which prints of an object little more than `Object(7)`. */
export function degradedLine({ count, class: slug, mode, source, detail }: Parameters<WriteDegraded>[0], service: string): string {
  return `decided without the store: count=${count} class=${slug} mode=${mode} source=${source} cause=${detail} service=${service}`;
}

const SECOND_MS = 1000;

/** At most one line per class, mode and source at the start of each second and one with the count of the rest; the counts add up to all events. */
export class DegradedLog {
  private readonly pending = new Map<string, { event: DegradedEvent; count: number; timer: NodeJS.Timeout }>();

  constructor(private readonly write: WriteDegraded) {}

  record(event: DegradedEvent): void {
    const id = `${event.class} ${event.mode} ${event.source}`;
    const open = this.pending.get(id);
    if (open) {
      open.count += 1;
      open.event = event;
      return;
    }
    const timer = setTimeout(() => this.close(id), SECOND_MS).unref();
    this.pending.set(id, { event, count: 0, timer });
    this.write({ ...event, count: 1 });
  }

  /** Writes what is counted but not yet written. */
  flush(): void {
    for (const id of [...this.pending.keys()]) this.close(id);
  }

  private close(id: string): void {
    const open = this.pending.get(id);
    if (!open) return;
    clearTimeout(open.timer);
    this.pending.delete(id);
    if (open.count > 0) this.write({ ...open.event, count: open.count });
  }
}
