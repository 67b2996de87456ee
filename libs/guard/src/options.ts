import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { Registry } from 'prom-client';
import type { FailMode } from './decorators';
import type { IdentityResolver } from './identity/identity';
import type { OpenTelemetryMeter } from './open-telemetry';

/** A limit of a node that has never seen a policy; counted per tenant (anonymous callers: per address), by this node alone. */
export interface DefaultLimit {
  /** `[a-z0-9-]{1,63}` */
  readonly name: string;
  /** Units per window of the whole fleet, 1 or more; this node enforces its share, `limit / expectedNodes`. */
  readonly limit: number;
  /** 1 to 86,400,000 ms. */
  readonly windowMs: number;
  /** Capacity in units; default `limit`. */
  readonly burst?: number;
}

export interface PlatformAddress {
  /** `http://` or `https://`. */
  readonly url: string;
  /** API token with the right `usage:write`, bound to the platform. */
  readonly token: string;
}

export interface QuotaplaneOptions {
  /** The platform's Redis, `redis://` or `rediss://`. */
  readonly redisUrl: string;
  /** Control plane that takes the last usage of a node that ends while Redis is away; without it that usage is in the log alone. */
  readonly platform?: PlatformAddress;
  /** Name of this service in receipts, journals and logs, `[a-z0-9-]{1,63}`. */
  readonly service: string;
  /** `platform` nodes are listed but not counted in receipts; default `service`. */
  readonly kind?: 'service' | 'platform';
  /** Version of the service, shown in the list of nodes. */
  readonly version?: string;
  /** Who is calling; default: API keys of the platform ({@link ApiKeyIdentity}). A function receives that default, to wrap it. */
  readonly identity?: IdentityResolver | ((apiKeys: IdentityResolver) => IdentityResolver);
  /** Nodes of the fleet, for a node that has never seen the store; default 1. */
  readonly expectedNodes?: number;
  /** Enforced until the first policy is seen; default 60 per minute, burst 20. */
  readonly defaultLimits?: readonly DefaultLimit[];
  /** Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed; default none. */
  readonly trustedProxies?: readonly string[];
  /** Leading bits by which IPv6 callers are counted, 32 to 128; default 64. */
  readonly ipv6Prefix?: number;
  /** `expose` lists the fields in Access-Control-Expose-Headers on cross-origin calls; default true. */
  readonly cors?: { readonly expose?: boolean };
  /** Also send X-RateLimit-Limit, -Remaining and -Reset (delta seconds); default false. */
  readonly legacyHeaders?: boolean;
  /** Base of the `docs` link in denials, such as `https://example.com/limits`. */
  readonly docsUrl?: string;
  /** Longest wait for the store per decision, from arrival, in ms; 1 to 1,000, default 25. */
  readonly storeBudgetMs?: number;
  /**
   * Longest time for which a call that is surely denied is answered without asking the store again, in ms; 0 to 250, default 250. 0 asks every time.
   * @see docs: denied short-circuit, for what is never answered so
   */
  readonly deniedForMs?: number;
  /** Fail mode of classes that neither the catalogue nor the decorator names; default `local`. */
  readonly failMode?: FailMode;
  /** Where the guard registers its metrics; default: a registry of its own (see {@link QuotaMetrics}). */
  readonly registry?: Registry;
  /** Mirrors the metrics to OpenTelemetry, too: to this Meter, or with `true` to the global one of `@opentelemetry/api`, which the service then has to have. */
  readonly openTelemetry?: boolean | OpenTelemetryMeter;
}

export interface QuotaplaneAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...dependencies: never[]) => QuotaplaneOptions | Promise<QuotaplaneOptions>;
}

/** Injection token of the validated options, every default filled in. */
export const QUOTAPLANE_OPTIONS = Symbol('quotaplane:options');
