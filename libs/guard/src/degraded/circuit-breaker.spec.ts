import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker';

describe('the circuit breaker', () => {
  const setUp = (): { breaker: CircuitBreaker; clock: { ms: number } } => {
    const clock = { ms: 0 };
    return { clock, breaker: new CircuitBreaker({ failureThreshold: 3, spacingMs: 20, openMs: 100, now: () => clock.ms }) };
  };
  const fail = (breaker: CircuitBreaker, clock: { ms: number }, times: number): void => {
    for (let count = 0; count < times; count += 1) {
      clock.ms += 25;
      breaker.failed();
    }
  };

  it('opens after failures in a row, spaced apart: a crowd that waited for one stall counts once', () => {
    const { breaker, clock } = setUp();
    for (let count = 0; count < 50; count += 1) breaker.failed();
    expect(breaker.isOpen).toBe(false);
    fail(breaker, clock, 2);
    expect(breaker.isOpen).toBe(true);
    expect(breaker.mayPass()).toBe(false);
  });

  it('lets one probe at a time through and closes at its success', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 3);
    clock.ms += 100;
    expect([breaker.mayPass(), breaker.mayPass()]).toEqual([true, false]);
    breaker.failed();
    expect(breaker.mayPass()).toBe(false);
    clock.ms += 100;
    expect(breaker.mayPass()).toBe(true);
    breaker.succeeded();
    expect([breaker.mayPass(), breaker.mayPass()]).toEqual([true, true]);
  });

  it('starts to count anew after any answer', () => {
    const { breaker, clock } = setUp();
    fail(breaker, clock, 2);
    breaker.succeeded();
    fail(breaker, clock, 2);
    expect(breaker.isOpen).toBe(false);
  });
});
