-- By hand: comes with Postgres, and the owner of a database may make it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- DropIndex
DROP INDEX "tenants_created_at_id_idx";

-- DropIndex
DROP INDEX "tenants_name_id_idx";

-- CreateTable
CREATE TABLE "usage_months" (
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL DEFAULT '',
    "end_at" TIMESTAMPTZ(3),
    "used" DECIMAL(38,0) NOT NULL DEFAULT 0,

    CONSTRAINT "usage_months_pkey" PRIMARY KEY ("tenant")
);

-- CreateIndex
CREATE INDEX "usage_months_used_tenant_idx" ON "usage_months"("used", "tenant" COLLATE "C");

-- CreateIndex
CREATE INDEX "audit_entries_entity_id_at_id_idx" ON "audit_entries"("entity_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_entity_type_at_id_idx" ON "audit_entries"("entity_type", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_action_at_id_idx" ON "audit_entries"("action", "at", "id");

-- CreateIndex
CREATE INDEX "overrides_tenant_id_created_at_id_idx" ON "overrides"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "overrides_subject_field_created_at_id_idx" ON "overrides"("subject_field", "created_at", "id");

-- CreateIndex
CREATE INDEX "statements_tenant_closed_at_id_idx" ON "statements"("tenant", "closed_at", "id");

-- CreateIndex
CREATE INDEX "tenants_slug_idx" ON "tenants"("slug" COLLATE "C");

-- CreateIndex
CREATE INDEX "tenants_slug_name_idx" ON "tenants" USING GIN ("slug" gin_trgm_ops, "name" gin_trgm_ops);

-- From here on by hand: what the Prisma schema cannot say.

-- Each order of the tenants' list, total by the slug.
CREATE INDEX tenants_list_name_idx ON tenants ((lower(name) COLLATE "C"), slug COLLATE "C") WHERE deleted_at IS NULL;
CREATE INDEX tenants_list_created_at_idx ON tenants (created_at, slug COLLATE "C") WHERE deleted_at IS NULL;
CREATE INDEX tenants_suspended_idx ON tenants (status) WHERE status <> 'active';

CREATE INDEX overrides_reverted_idx ON overrides (created_at, id) WHERE reverted_at IS NOT NULL;
CREATE INDEX overrides_single_idx ON overrides (created_at, id) WHERE subject_field <> '';
CREATE INDEX overrides_from_idx ON overrides (from_at) WHERE reverted_at IS NULL;

CREATE INDEX audit_entries_actor_id_idx ON audit_entries ((actor ->> 'id'), at, id);
CREATE INDEX audit_entries_actor_name_idx ON audit_entries ((actor ->> 'name'), at, id);

CREATE INDEX statements_month_idx ON statements ((left(period_id, 7)), closed_at, id);

-- Months that are over and were used: they count as 0 in lists until the next one has its row, and are few once it has.
CREATE INDEX usage_months_end_at_idx ON usage_months (end_at) WHERE used <> 0;

-- usage_months: the triggers below are its only writers. A later period takes the row over, an earlier one changes nothing. Rows are locked in the order of
-- their tenants, after the rows that the statement itself wrote.
CREATE FUNCTION open_usage_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_months (tenant) SELECT slug FROM created ORDER BY slug COLLATE "C" ON CONFLICT (tenant) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER tenants_open_usage_month AFTER INSERT ON tenants REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION open_usage_month();

CREATE FUNCTION turn_usage_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_months AS held (tenant, period_id, end_at)
    SELECT DISTINCT ON (tenant COLLATE "C") tenant, period_id, end_at FROM created WHERE start_at <= clock_timestamp() ORDER BY tenant COLLATE "C", period_id DESC
  ON CONFLICT (tenant) DO UPDATE SET period_id = excluded.period_id, end_at = excluded.end_at,
    used = CASE WHEN held.period_id = excluded.period_id THEN held.used ELSE 0 END
    WHERE held.period_id <= excluded.period_id;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_periods_turn_month AFTER INSERT ON usage_periods REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION turn_usage_month();

-- Adds what a statement changed: `grown` are its new rows, `shrunk` its old ones.
CREATE FUNCTION count_usage_month() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  grown_units text := 'SELECT tenant, period_id, admitted::numeric - refunded AS units FROM grown WHERE meter = ''requests''';
  shrunk_units text := 'SELECT tenant, period_id, refunded::numeric - admitted AS units FROM shrunk WHERE meter = ''requests''';
BEGIN
  EXECUTE 'INSERT INTO usage_months AS held (tenant, period_id, end_at, used)
    SELECT DISTINCT ON (tenant COLLATE "C") tenant, period_id,
      (SELECT p.end_at FROM usage_periods p WHERE p.tenant = moved.tenant AND p.period_id = moved.period_id), sum(units)
    FROM (' || CASE TG_OP WHEN 'INSERT' THEN grown_units WHEN 'DELETE' THEN shrunk_units ELSE grown_units || ' UNION ALL ' || shrunk_units END || ') moved
    GROUP BY tenant, period_id HAVING sum(units) <> 0 ORDER BY tenant COLLATE "C", period_id DESC
  ON CONFLICT (tenant) DO UPDATE SET period_id = excluded.period_id, end_at = excluded.end_at,
    used = CASE WHEN held.period_id = excluded.period_id THEN held.used + excluded.used ELSE excluded.used END
    WHERE held.period_id <= excluded.period_id';
  RETURN NULL;
END $$;
CREATE TRIGGER usage_journals_count_insert AFTER INSERT ON usage_journals REFERENCING NEW TABLE AS grown FOR EACH STATEMENT EXECUTE FUNCTION count_usage_month();
CREATE TRIGGER usage_journals_count_update AFTER UPDATE ON usage_journals REFERENCING NEW TABLE AS grown OLD TABLE AS shrunk
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage_month();
CREATE TRIGGER usage_journals_count_delete AFTER DELETE ON usage_journals REFERENCING OLD TABLE AS shrunk FOR EACH STATEMENT EXECUTE FUNCTION count_usage_month();

-- What there is already. Nobody counts meanwhile, or a count would be missed.
LOCK TABLE tenants, usage_periods, usage_journals IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO usage_months (tenant) SELECT slug FROM tenants;
INSERT INTO usage_months AS held (tenant, period_id, end_at, used)
  SELECT DISTINCT ON (tenant) tenant, period_id, max(end_at), sum(units) FROM (
    SELECT tenant, period_id, end_at, 0::numeric AS units FROM usage_periods WHERE start_at <= clock_timestamp()
    UNION ALL SELECT tenant, period_id, NULL, admitted::numeric - refunded FROM usage_journals WHERE meter = 'requests') known
  GROUP BY tenant, period_id ORDER BY tenant, period_id DESC
ON CONFLICT (tenant) DO UPDATE SET period_id = excluded.period_id, end_at = excluded.end_at, used = excluded.used;
