-- By hand: what the Prisma schema cannot say. Allowances of each tenant and period are worked out with the overrides that name a quota, of all that there ever were.
CREATE INDEX overrides_quotas_idx ON overrides (tenant_id) WHERE subject_field = '' AND (set ? 'quotas');
