/** What `@quotaplane/guard/limiter` gives to services without Nest; the main entry gives it too. */
export { generateSecret, hashSecret, hasValidChecksum, isDemoKey, type SecretPrefix } from './key-format';
export { PROBLEM_JSON, type QuotaProblem } from './http/quota-problem';
export { onResponseEnd, type CallOutcome } from './http/response-end';
export { ApiKeyIdentity } from './identity/api-key.identity';
export { headerOf, type GuardedRequest, type Identity, type IdentityResolver, type TenantIdentity } from './identity/identity';
export { createLimiter, type LimiterOptions } from './limiter/create-limiter';
export type { ExpressMiddleware } from './limiter/express-middleware';
export type { FastifyLimiterOptions, FastifyPlugin } from './limiter/fastify-plugin';
export { JobDeniedError, type DelayableJob } from './limiter/job-admission';
export { Limiter } from './limiter/limiter';
export type { LimiterCall, LimiterCaller } from './limiter/limiter-call';
export type { LimiterDecision, LimiterFigure } from './limiter/limiter-decision';
export type { LimiterLogger } from './limiter/limiter-logger';
export type { RequestRules } from './limiter/request-rules';
export { QuotaMetrics } from './metrics';
export type { OpenTelemetryMeter } from './open-telemetry';
export type { DefaultLimit, PlatformAddress, QuotaplaneOptions } from './options';
export { QuotaplaneOptionsError } from './resolve-options';
