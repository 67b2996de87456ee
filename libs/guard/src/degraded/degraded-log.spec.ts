import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { degradedLine, DegradedLog, type DegradedEvent } from './degraded-log';

const event: DegradedEvent = { class: 'default', mode: 'local', source: 'local', detail: 'unavailable' };

describe('the log of degraded decisions', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('writes the first of a class and second at once and then the count of the rest', () => {
    const counts: number[] = [];
    const log = new DegradedLog(({ count }) => counts.push(count));
    for (let call = 0; call < 5; call += 1) log.record(event);
    expect(counts).toEqual([1]);
    vi.advanceTimersByTime(1000);
    expect(counts).toEqual([1, 4]);
    log.record(event);
    expect(counts).toEqual([1, 4, 1]);
  });

  it('keeps classes apart and loses nothing at the end', () => {
    const lines: string[] = [];
    const log = new DegradedLog(({ class: name, count }) => lines.push(`${name} ${count}`));
    for (const name of ['default', 'login', 'default']) log.record({ ...event, class: name });
    log.flush();
    expect(lines).toEqual(['default 1', 'login 1', 'default 1']);
  });

  it('writes one line of text', () => {
    expect(degradedLine({ ...event, count: 3 }, 'orders')).toBe(
      'decided without the store: count=3 class=default mode=local source=local cause=unavailable service=orders',
    );
  });
});
