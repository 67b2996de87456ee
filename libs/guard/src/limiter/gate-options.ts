/**
 * What a service caps; see `Limiter.gate`. Spelt out instead of picked from the gate's own options, whose types would bring those of the whole store into
 * the package's declarations.
 */
export interface GateOptions {
  /** Whose tasks are capped. */
  readonly tenant: string;
  /** What is capped, such as `reports-pool`. Gates of one tenant and name share their slots over all processes. */
  readonly name: string;
  /** Most tasks at once over all processes; 0 runs none. */
  readonly limit: number;
  /** Most tasks that wait in this process; 0 refuses at once. */
  readonly maxQueue: number;
  /** Longest wait of a task in ms. */
  readonly maxWaitMs: number;
}
