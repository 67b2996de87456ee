-- CreateTable
CREATE TABLE "settings" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "fallback_tier" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "settings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tiers" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "weight" INTEGER NOT NULL DEFAULT 1,
    "support" TEXT NOT NULL DEFAULT '',
    "archived_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "draft" JSONB,
    "draft_version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "tiers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tier_versions" (
    "id" UUID NOT NULL,
    "tier_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "diff" JSONB NOT NULL,
    "effective_at" TIMESTAMPTZ(3) NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_by" TEXT NOT NULL,

    CONSTRAINT "tier_versions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "endpoint_classes" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "cost" BIGINT NOT NULL DEFAULT 1,
    "meter" TEXT NOT NULL DEFAULT 'requests',
    "fail_mode" TEXT NOT NULL DEFAULT 'local',
    "refund_on" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "retry" JSONB,
    "description" TEXT NOT NULL DEFAULT '',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "endpoint_classes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "anchor_day" INTEGER NOT NULL DEFAULT 1,
    "status" TEXT NOT NULL DEFAULT 'active',
    "reserved" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "covered_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tier_assignments" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "tier_id" UUID NOT NULL,
    "effective_at" TIMESTAMPTZ(3) NOT NULL,
    "usage" TEXT NOT NULL DEFAULT 'carry',
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "tier_assignments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "user_id" TEXT,
    "kind" TEXT NOT NULL DEFAULT 'customer',
    "secret_hash" TEXT NOT NULL,
    "hint" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "overrides" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "subject" JSONB NOT NULL,
    "mode" TEXT NOT NULL,
    "set" JSONB NOT NULL,
    "reason" TEXT NOT NULL,
    "ticket" TEXT,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "until_at" TIMESTAMPTZ(3),
    "reverted_at" TIMESTAMPTZ(3),
    "reverted_by" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "overrides_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operators" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operators_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id_hash" TEXT NOT NULL,
    "operator_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id_hash")
);

-- CreateTable
CREATE TABLE "sign_in_attempts" (
    "key" TEXT NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY ("key","window_start")
);

-- CreateTable
CREATE TABLE "api_tokens" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "hint" TEXT NOT NULL,
    "scopes" TEXT[],
    "binding" JSONB,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_heads" (
    "chain" TEXT NOT NULL,
    "seq" BIGINT NOT NULL DEFAULT 0,
    "hash" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "audit_heads_pkey" PRIMARY KEY ("chain")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "chain" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor" JSONB NOT NULL,
    "action" TEXT NOT NULL,
    "entity_type" TEXT NOT NULL,
    "entity_id" TEXT NOT NULL,
    "tenant" TEXT,
    "reason" TEXT,
    "ticket" TEXT,
    "before" JSONB,
    "after" JSONB,
    "change_id" UUID NOT NULL,
    "request_id" TEXT,
    "prev_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "changes" (
    "id" UUID NOT NULL,
    "claim_order" BIGSERIAL NOT NULL,
    "topics" JSONB NOT NULL,
    "committed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(3),
    "position" TEXT,
    "tenant_count" INTEGER NOT NULL DEFAULT 0,
    "live_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,

    CONSTRAINT "changes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "change_revisions" (
    "change_id" UUID NOT NULL,
    "tenant" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,

    CONSTRAINT "change_revisions_pkey" PRIMARY KEY ("change_id","tenant")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "actor_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "status" INTEGER,
    "response" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("actor_id","key")
);

-- CreateTable
CREATE TABLE "usage_journals" (
    "incarnation" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "class" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "admitted" BIGINT NOT NULL DEFAULT 0,
    "refunded" BIGINT NOT NULL DEFAULT 0,
    "degraded" BIGINT NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_journals_pkey" PRIMARY KEY ("tenant","period_id","meter","part","class","generation","incarnation")
);

-- CreateTable
CREATE TABLE "usage_periods" (
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "end_at" TIMESTAMPTZ(3) NOT NULL,
    "timezone" TEXT NOT NULL,

    CONSTRAINT "usage_periods_pkey" PRIMARY KEY ("tenant","period_id")
);

-- CreateTable
CREATE TABLE "incarnations" (
    "id" TEXT NOT NULL,
    "service" TEXT NOT NULL,
    "folded_seq" BIGINT NOT NULL DEFAULT 0,
    "folded_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "incarnations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "traffic_minutes" (
    "tenant" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "allowed" BIGINT NOT NULL DEFAULT 0,
    "units" BIGINT NOT NULL DEFAULT 0,
    "denied" BIGINT NOT NULL DEFAULT 0,
    "denied_by_limit" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "traffic_minutes_pkey" PRIMARY KEY ("tenant","minute")
);

-- CreateTable
CREATE TABLE "store_identity" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "run_id" TEXT NOT NULL,
    "replication_id" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "store_identity_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "tiers_slug_key" ON "tiers"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "tier_versions_tier_id_number_key" ON "tier_versions"("tier_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "endpoint_classes_slug_key" ON "endpoint_classes"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_slug_key" ON "tenants"("slug");

-- CreateIndex
CREATE INDEX "tenants_created_at_id_idx" ON "tenants"("created_at", "id");

-- CreateIndex
CREATE INDEX "tenants_name_id_idx" ON "tenants"("name", "id");

-- CreateIndex
CREATE INDEX "tier_assignments_tier_id_idx" ON "tier_assignments"("tier_id");

-- CreateIndex
CREATE UNIQUE INDEX "tier_assignments_tenant_id_effective_at_key" ON "tier_assignments"("tenant_id", "effective_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_secret_hash_key" ON "api_keys"("secret_hash");

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_created_at_id_idx" ON "api_keys"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "overrides_tenant_id_from_at_idx" ON "overrides"("tenant_id", "from_at");

-- CreateIndex
CREATE INDEX "overrides_created_at_id_idx" ON "overrides"("created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "operators_email_key" ON "operators"("email");

-- CreateIndex
CREATE INDEX "sessions_operator_id_idx" ON "sessions"("operator_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_tokens_secret_hash_key" ON "api_tokens"("secret_hash");

-- CreateIndex
CREATE INDEX "api_tokens_created_at_id_idx" ON "api_tokens"("created_at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_at_id_idx" ON "audit_entries"("at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_tenant_at_id_idx" ON "audit_entries"("tenant", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_change_id_idx" ON "audit_entries"("change_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_entries_chain_seq_key" ON "audit_entries"("chain", "seq");

-- CreateIndex
CREATE INDEX "changes_published_at_claim_order_idx" ON "changes"("published_at", "claim_order");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "usage_journals_period_id_tenant_idx" ON "usage_journals"("period_id", "tenant");

-- CreateIndex
CREATE INDEX "usage_periods_start_at_idx" ON "usage_periods"("start_at");

-- CreateIndex
CREATE INDEX "traffic_minutes_minute_idx" ON "traffic_minutes"("minute");

-- AddForeignKey
ALTER TABLE "tier_versions" ADD CONSTRAINT "tier_versions_tier_id_fkey" FOREIGN KEY ("tier_id") REFERENCES "tiers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tier_assignments" ADD CONSTRAINT "tier_assignments_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tier_assignments" ADD CONSTRAINT "tier_assignments_tier_id_fkey" FOREIGN KEY ("tier_id") REFERENCES "tiers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_operator_id_fkey" FOREIGN KEY ("operator_id") REFERENCES "operators"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "change_revisions" ADD CONSTRAINT "change_revisions_change_id_fkey" FOREIGN KEY ("change_id") REFERENCES "changes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Appended to the first migration: what the Prisma schema cannot say.
-- The audit log is append-only for every role that goes through SQL.
CREATE FUNCTION refuse_audit_mutation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_entries is append-only';
END $$;
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_mutation();
