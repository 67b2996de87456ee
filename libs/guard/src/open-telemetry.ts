/** The part of an OpenTelemetry Meter that the guard uses; a Meter of `@opentelemetry/api` fits as it is. */
export interface OpenTelemetryMeter {
  createCounter(name: string, options?: InstrumentOptions): { add(value: number, attributes?: Attributes): void };
  createHistogram(name: string, options?: InstrumentOptions): { record(value: number, attributes?: Attributes): void };
  createObservableGauge(name: string, options?: InstrumentOptions): { addCallback(callback: (result: { observe(value: number): void }) => void): void };
}
type Attributes = Record<string, string>;
interface InstrumentOptions {
  readonly description?: string;
  readonly unit?: string;
}

const API = '@opentelemetry/api';
const METER_NAME = 'quotaplane';

/** `openTelemetry: true` was asked for in a service that has no `@opentelemetry/api`. */
export class OpenTelemetryMissingError extends Error {
  override readonly name = 'OpenTelemetryMissingError';
  constructor(cause: unknown) {
    super(`openTelemetry: true needs the package ${API}; install it, or pass a Meter`, { cause });
  }
}

/**
 * The Meter of the service's global provider. The package is looked up only when asked for, so that nobody else has to have it.
 * @throws {OpenTelemetryMissingError} it is not installed
 */
export async function globalMeter(): Promise<OpenTelemetryMeter> {
  try {
    // By a variable: neither the compiler nor a bundler must need a package that is optional.
    const api = (await import(API)) as { readonly metrics: { getMeter(name: string): OpenTelemetryMeter } };
    return api.metrics.getMeter(METER_NAME);
  } catch (error) {
    throw new OpenTelemetryMissingError(error);
  }
}
