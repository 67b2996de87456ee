import { parseRedisUrl } from '@quotaplane/rate-limit';
import { DENIED_FOR_MS } from './decide/denied-calls';
import type { FailMode } from './decorators';
import { parseRange } from './identity/client-address';
import type { DefaultLimit, QuotaplaneOptions } from './options';

/** Options with every default filled in. */
export interface ResolvedOptions
  extends Required<Omit<QuotaplaneOptions, 'identity' | 'docsUrl' | 'registry' | 'cors' | 'platform'>>,
    Pick<QuotaplaneOptions, 'identity' | 'docsUrl' | 'registry' | 'platform'> {
  readonly cors: { readonly expose: boolean };
}

/** An option that the guard cannot start with; the message names it and says what is allowed. */
export class QuotaplaneOptionsError extends Error {
  override readonly name = 'QuotaplaneOptionsError';
  constructor(readonly faults: readonly string[]) {
    super(`QuotaplaneModule: ${faults.join('; ')}`);
  }
}

const SLUG = /^[a-z0-9-]{1,63}$/;
const FAIL_MODES: readonly FailMode[] = ['local', 'open', 'closed'];
const WINDOW_MAX_MS = 86_400_000;
const DEFAULT_LIMITS: readonly DefaultLimit[] = [{ name: 'per-minute', limit: 60, windowMs: 60_000, burst: 20 }];

const isWhole = (value: number, least: number, most: number): boolean => Number.isSafeInteger(value) && value >= least && value <= most;

/**
 * Validates the options and fills in the defaults.
 * @throws {QuotaplaneOptionsError} naming every faulty option at once
 */
export function resolveOptions(options: QuotaplaneOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    redisUrl: options.redisUrl,
    platform: options.platform,
    service: options.service,
    kind: options.kind ?? 'service',
    version: options.version ?? '0.0.0',
    identity: options.identity,
    expectedNodes: options.expectedNodes ?? 1,
    defaultLimits: options.defaultLimits ?? DEFAULT_LIMITS,
    trustedProxies: options.trustedProxies ?? [],
    ipv6Prefix: options.ipv6Prefix ?? 64,
    cors: { expose: options.cors?.expose ?? true },
    legacyHeaders: options.legacyHeaders ?? false,
    docsUrl: options.docsUrl,
    storeBudgetMs: options.storeBudgetMs ?? 25,
    deniedForMs: options.deniedForMs ?? DENIED_FOR_MS,
    failMode: options.failMode ?? 'local',
    registry: options.registry,
    openTelemetry: options.openTelemetry ?? false,
  };
  const faults = [...redisFaults(resolved.redisUrl), ...faultsOf(resolved), ...resolved.defaultLimits.flatMap(limitFaults), ...resolved.trustedProxies.flatMap(proxyFaults)];
  if (faults.length > 0) throw new QuotaplaneOptionsError(faults);
  return resolved;
}

function faultsOf(options: ResolvedOptions): string[] {
  const checks: readonly (readonly [boolean, string])[] = [
    [options.platform === undefined || (/^https?:\/\//.test(options.platform.url) && URL.canParse(options.platform.url)), 'platform.url must be an http:// or https:// URL'],
    [options.platform === undefined || Boolean(options.platform.token), 'platform.token must be an API token'],
    [SLUG.test(options.service ?? ''), 'service must match [a-z0-9-]{1,63}'],
    [options.kind === 'service' || options.kind === 'platform', 'kind must be service or platform'],
    [isWhole(options.expectedNodes, 1, 100_000), 'expectedNodes must be a whole number from 1 to 100,000'],
    [isWhole(options.ipv6Prefix, 32, 128), 'ipv6Prefix must be a whole number from 32 to 128'],
    [isWhole(options.storeBudgetMs, 1, 1000), 'storeBudgetMs must be a whole number from 1 to 1,000'],
    [isWhole(options.deniedForMs, 0, DENIED_FOR_MS), `deniedForMs must be a whole number from 0 to ${DENIED_FOR_MS}`],
    [FAIL_MODES.includes(options.failMode), `failMode must be one of ${FAIL_MODES.join(', ')}`],
    [options.docsUrl === undefined || URL.canParse(options.docsUrl), 'docsUrl must be an absolute URL'],
  ];
  return checks.filter(([isGood]) => !isGood).map(([, fault]) => fault);
}

/** The fault never holds the address, for it may hold a password. */
function redisFaults(redisUrl: string | undefined): string[] {
  if (redisUrl === undefined || !/^rediss?:\/\//.test(redisUrl)) return ['redisUrl must be a redis:// or rediss:// URL'];
  try {
    parseRedisUrl(redisUrl);
    return [];
  } catch (error) {
    return [`redisUrl: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function limitFaults(limit: DefaultLimit, index: number): string[] {
  const at = `defaultLimits[${index}]`;
  const checks: readonly (readonly [boolean, string])[] = [
    [SLUG.test(limit.name), `${at}.name must match [a-z0-9-]{1,63}`],
    [isWhole(limit.limit, 1, Number.MAX_SAFE_INTEGER), `${at}.limit must be a whole number of 1 or more`],
    [isWhole(limit.windowMs, 1, WINDOW_MAX_MS), `${at}.windowMs must be a whole number from 1 to ${WINDOW_MAX_MS}`],
    [limit.burst === undefined || isWhole(limit.burst, 1, Number.MAX_SAFE_INTEGER), `${at}.burst must be a whole number of 1 or more`],
    // M4: the debt of a full bucket must stay exact in unit-milliseconds.
    [BigInt(Math.floor(limit.burst ?? limit.limit) || 0) * BigInt(Math.floor(limit.windowMs) || 0) <= BigInt(Number.MAX_SAFE_INTEGER), `${at}: burst x windowMs must not pass 2^53-1`],
  ];
  return checks.filter(([isGood]) => !isGood).map(([, fault]) => fault);
}

function proxyFaults(range: string, index: number): string[] {
  try {
    parseRange(range);
    return [];
  } catch {
    return [`trustedProxies[${index}] must be an address or a CIDR range, not ${range}`];
  }
}
