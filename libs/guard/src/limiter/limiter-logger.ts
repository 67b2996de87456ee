/** Where a limiter says what an operator has to know; Nest's logger, `console` and pino fit as they are. */
export interface LimiterLogger {
  warn(line: string): void;
  error(line: string): void;
}
