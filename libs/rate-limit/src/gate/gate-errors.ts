/** The queue of a gate is full: nothing was run. */
export class GateFullError extends Error {
  override readonly name = 'GateFullError';
  readonly code = 'gate.full';

  constructor(readonly gate: string, readonly maxQueue: number) {
    super(`Gate ${gate}: ${maxQueue} tasks wait already`);
  }
}

/** No slot came free in time: nothing was run. */
export class GateTimeoutError extends Error {
  override readonly name = 'GateTimeoutError';
  readonly code = 'gate.timeout';

  constructor(readonly gate: string, readonly maxWaitMs: number) {
    super(`Gate ${gate}: no slot came free within ${maxWaitMs} ms`);
  }
}

/** An option of a gate is out of its bounds. A fault of the caller. */
export class InvalidGateOptionError extends RangeError {
  override readonly name = 'InvalidGateOptionError';

  constructor(readonly option: string, readonly value: unknown) {
    super(`${option} must be a whole number, 0 or more, not ${String(value)}`);
  }
}
