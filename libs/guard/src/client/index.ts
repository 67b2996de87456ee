export { createQuotaClient, type QuotaClientOptions, type QuotaFetch, type QuotaWait } from './quota-client';
export { readLimits, type LimitReading, type QuotaReading, type TightestReading } from './read-limits';
