import { z } from 'zod';
import { compiledLimitSchema, compiledPeriodSchema, compiledQuotaSchema, numberSource, tenantStatus } from '../policy';
import { allowance, decimalString, exactInteger, instant, localDate, reason, slug } from '../numbers';
import { changed, pageOf, pageQuery, versioned } from './page';

/** Slugs no customer may take: callers without credentials, and the platform itself. */
export const RESERVED_TENANTS = ['anonymous', 'platform'] as const;

const fields = {
  slug,
  name: z.string().trim().min(1).max(100),
  tier: slug,
  /** IANA zone name; periods start at local midnight there. */
  timezone: z.string().min(1).max(64),
  /** Day of the month a period starts on; clipped to short months without drifting. */
  anchorDay: z.int().min(1).max(31),
  status: tenantStatus,
};
export const tenantCreate = z.strictObject({
  slug: fields.slug, name: fields.name, tier: fields.tier,
  timezone: fields.timezone.default('UTC'), anchorDay: fields.anchorDay.default(1), status: fields.status.default('active'),
});
export const tenantPatch = z.strictObject({
  name: fields.name, tier: fields.tier, timezone: fields.timezone, anchorDay: fields.anchorDay, status: fields.status,
}).partial();
export const tenantTierPut = z.strictObject({
  tier: slug,
  effectiveAt: z.union([z.enum(['now', 'period-end']), instant]).default('now'),
  usage: z.enum(['carry', 'prorate', 'restart']).default('carry'),
  reason,
});

/** A tier change as it would be, without a reason yet. */
export const tierPreviewQuery = tenantTierPut.omit({ reason: true });
const quotaFigures = z.strictObject({ used: decimalString, allowance: decimalString.nullable(), remaining: decimalString.nullable() });
/** Quotas around a tier change: just before it and just after, as of now. A meter that one of the tiers lacks is null there. */
export const tierPreview = z.strictObject({
  tenant: slug,
  from: slug,
  to: slug,
  usage: tenantTierPut.shape.usage.unwrap(),
  effectiveAt: instant,
  period: localDate,
  meters: z.array(z.strictObject({ meter: slug, before: quotaFigures.nullable(), after: quotaFigures.nullable() })),
  asOf: instant,
});

export const tenantSchema = z.strictObject({
  ...fields,
  ...versioned,
  reserved: z.boolean(),
  /** Tier change that is scheduled but not yet in force. */
  scheduledTier: z.strictObject({ tier: slug, effectiveAt: instant }).nullable(),
  /** A change of zone or anchor day: `from` is in force until `effectiveAt`, the end of the period that ran; then comes the transition. Null when there is none. */
  calendarChange: z.strictObject({
    effectiveAt: instant,
    from: z.strictObject({ timezone: z.string(), anchorDay: z.int() }),
    transition: z.strictObject({ id: localDate, start: instant, end: instant }),
  }).nullable(),
});
export type Tenant = z.infer<typeof tenantSchema>;
export const tenantChanged = tenantSchema.extend(changed);

export const TENANT_SORTS = ['slug', '-slug', 'name', '-name', 'createdAt', '-createdAt', 'monthUsed', '-monthUsed'] as const;
export const tenantQuery = pageQuery.extend({
  q: z.string().max(100).optional(),
  tier: slug.optional(),
  status: tenantStatus.optional(),
  sort: z.enum(TENANT_SORTS).default('slug'),
});
/** A list row adds what ops look at: month used, denials in the last hour, overrides in force. */
export const tenantRow = tenantSchema.extend({
  monthUsed: decimalString,
  monthAllowance: decimalString.nullable(),
  deniedLastHour: exactInteger,
  activeOverrides: exactInteger,
});
export type TenantRow = z.infer<typeof tenantRow>;
export const tenantPage = pageOf(tenantRow);

/** The limits in force now, each number with its source. */
export const tenantPolicy = z.strictObject({
  tenant: slug,
  revision: exactInteger,
  tier: slug,
  tierVersion: exactInteger,
  fromMs: z.int(),
  untilMs: z.int(),
  period: compiledPeriodSchema,
  timezone: z.string(),
  limits: z.array(compiledLimitSchema),
  concurrency: z.strictObject({ limit: allowance, source: numberSource }),
  quotas: z.array(compiledQuotaSchema),
  /** Segments to come, so that a scheduled end is visible before it happens. */
  upcoming: z.array(z.strictObject({ fromMs: z.int(), limits: z.array(compiledLimitSchema) })),
  /** Overrides in force or to come that name limits this tier lacks. */
  dangling: z.array(z.strictObject({ overrideId: z.uuid(), limit: z.string() })),
  /** Single subjects with overrides of their own, in force or to come, by scope; the numbers here are everyone else's. */
  subjects: z.strictObject({ key: exactInteger, user: exactInteger, ip: exactInteger }),
});
export type TenantPolicy = z.infer<typeof tenantPolicy>;
