import type { CompiledPeriod, Policy } from '@quotaplane/contracts';
import { compile, compileSubjects, type CompiledSubjects, type PolicySource } from '@quotaplane/policy';
import type { Calendar } from '@quotaplane/usage';
import { tenantPeriods } from '../tenants/tenant-calendar';
import type { TenantPolicyRows } from './policy-rows';
import { policySourceOf } from './policy-source';

const PERIODS_BEFORE = 1;
const PERIODS_AFTER = 13;

export interface CompiledTenant {
  readonly policy: Policy;
  readonly subjects: CompiledSubjects;
}

/** Compiles the policies of one page of tenants. Most tenants of a tier differ in nothing but their name: what they share is worked out once, and is one object. */
export class PolicyCompiler {
  private readonly periods = new Map<readonly Calendar[], readonly CompiledPeriod[]>();
  private readonly shared = new Map<string, Policy>();

  constructor(private readonly nowMs: number) {}

  /** @throws {PolicySourceError} the tenant has no tier */
  compile(rows: TenantPolicyRows, revision: number): CompiledTenant {
    const source = policySourceOf({ ...rows, revision }, this.periodsOf(rows));
    const key = sharedKeyOf(source, rows);
    const known = key === undefined ? undefined : this.shared.get(key);
    if (known !== undefined) return { policy: { ...known, tenant: source.tenant, revision, status: source.status }, subjects: NO_SUBJECTS };
    const subjects = compileSubjects(source);
    const policy = compile(source, subjects);
    if (key !== undefined) this.shared.set(key, policy);
    return { policy, subjects };
  }

  private periodsOf(rows: TenantPolicyRows): readonly CompiledPeriod[] {
    const known = this.periods.get(rows.calendars);
    if (known !== undefined) return known;
    const periods = tenantPeriods(rows, { nowMs: this.nowMs, before: PERIODS_BEFORE, after: PERIODS_AFTER });
    this.periods.set(rows.calendars, periods);
    return periods;
  }
}

const NO_SUBJECTS: CompiledSubjects = new Map();

/** Equal for tenants that may share a timeline; undefined where one has something of its own. All rows of a page were read at once, so that a tier's slug names its versions, too. */
function sharedKeyOf({ tiers, overrides, subjects, quotaChanges, quotaExtras }: PolicySource, { calendars }: TenantPolicyRows): string | undefined {
  if (overrides.length > 0 || subjects !== undefined || quotaChanges !== undefined || quotaExtras !== undefined) return undefined;
  return JSON.stringify([calendars, tiers.map(({ fromMs, slug }) => [fromMs, slug])]);
}
