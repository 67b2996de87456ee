import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(1_000);

/** An unset variable and an empty one mean the same, as in a shell script that passes `PORT=$PORT` on. */
const optional = <T extends z.ZodType>(type: T) => z.preprocess((value) => (value === '' ? undefined : value), type.optional());

const environment = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a URL such as postgresql://user:password@host:5432/name' }),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a URL such as redis://host:6379' }),
  PORT: optional(port),
  QUOTAPLANE_HOST: optional(z.string()),
  QUOTAPLANE_DB_POOL: optional(count),
  QUOTAPLANE_DB_ACQUIRE_MS: optional(z.coerce.number().int().min(10).max(60_000)),
  QUOTAPLANE_BOOTSTRAP_TOKEN: optional(z.string().min(16, 'must have at least 16 characters')),
  QUOTAPLANE_ADMIN_EMAIL: optional(z.email()),
  QUOTAPLANE_ADMIN_PASSWORD: optional(z.string().min(8, 'must have at least 8 characters')),
  QUOTAPLANE_CONSOLE_DIR: optional(z.string()),
  QUOTAPLANE_TRUSTED_PROXIES: optional(z.string()),
  QUOTAPLANE_CLOSING_GRACE_HOURS: optional(z.coerce.number().min(0).max(720)),
  QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: optional(z.enum(['0', '1'], { error: 'must be 0 or 1' })),
  NODE_ENV: optional(z.string()),
});

/** Settings of the process that cannot be used; the message is one line that says what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What the environment says, parsed once at start. */
export class AppConfig {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly port: number;
  readonly host: string;
  /** Connections to Postgres of this process. */
  readonly databasePoolSize: number;
  /** Longest wait for a free connection; two such waits fit into the 2 s that a caller waits at most (C076). */
  readonly databaseAcquireMs: number;
  readonly bootstrapToken: string | undefined;
  readonly adminEmail: string | undefined;
  readonly adminPassword: string | undefined;
  /** Folder of the built console; it may be absent. */
  readonly consoleDir: string;
  /** Addresses whose `X-Forwarded-*` headers are believed; none by default. */
  readonly trustedProxies: readonly string[];
  /** Lets webhooks go to private addresses and over plain HTTP: for a receiver on this machine, never in production. */
  readonly allowsPrivateWebhooks: boolean;
  /** How long after its end a period waits for late usage before it is closed, in hours. */
  readonly closingGraceHours: number;
  /** Holds every answer against its contract; specs only, for it costs a parse of each answer. */
  readonly assertsAnswers: boolean;

  constructor(parsed: z.output<typeof environment>) {
    this.databaseUrl = parsed.DATABASE_URL;
    this.redisUrl = parsed.REDIS_URL;
    this.port = parsed.PORT ?? 3000;
    this.host = parsed.QUOTAPLANE_HOST ?? everyAddress();
    this.databasePoolSize = parsed.QUOTAPLANE_DB_POOL ?? 10;
    this.databaseAcquireMs = parsed.QUOTAPLANE_DB_ACQUIRE_MS ?? 800;
    this.bootstrapToken = parsed.QUOTAPLANE_BOOTSTRAP_TOKEN;
    this.adminEmail = parsed.QUOTAPLANE_ADMIN_EMAIL?.toLowerCase();
    this.adminPassword = parsed.QUOTAPLANE_ADMIN_PASSWORD;
    this.consoleDir = parsed.QUOTAPLANE_CONSOLE_DIR ?? fileURLToPath(new URL('../console', import.meta.url));
    this.trustedProxies = (parsed.QUOTAPLANE_TRUSTED_PROXIES ?? '').split(',').map((entry) => entry.trim()).filter(Boolean);
    this.allowsPrivateWebhooks = parsed.QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE === '1';
    this.closingGraceHours = parsed.QUOTAPLANE_CLOSING_GRACE_HOURS ?? 24;
    this.assertsAnswers = parsed.NODE_ENV === 'test';
  }
}

/** @throws {ConfigError} a variable is missing or wrong; all of them are named in one line */
export function readConfig(env: NodeJS.ProcessEnv): AppConfig {
  const parsed = environment.safeParse(env);
  if (parsed.success) return new AppConfig(parsed.data);
  const faults = parsed.error.issues.map((issue) => {
    const name = issue.path.join('.');
    return env[name] ? `${name} ${issue.message}` : `${name} is not set`;
  });
  throw new ConfigError(`Configuration: ${faults.join('; ')}.`);
}

/** All addresses of this machine; `::` covers IPv4 too, but only where there is IPv6. */
function everyAddress(): string {
  const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));
  return hasIpv6 ? '::' : '0.0.0.0';
}
