-- By hand: what the Prisma schema cannot say. What a policy is made of is read without the overrides of single subjects, of which a tenant may have 100,000.
CREATE INDEX overrides_tenant_wide_idx ON overrides (tenant_id, until_at) WHERE reverted_at IS NULL AND subject_field = '';
