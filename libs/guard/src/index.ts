export { Cost, EndpointClass, SkipQuota, Subject, type CostOf, type FailMode, type SubjectOf } from './decorators';
export type { GuardedRequest, Identity, IdentityResolver } from './identity/identity';
export { generateSecret, hashSecret, hasValidChecksum, isDemoKey, type SecretPrefix } from './key-format';
export { QUOTAPLANE_OPTIONS, type DefaultLimit, type QuotaplaneAsyncOptions, type QuotaplaneOptions } from './options';
