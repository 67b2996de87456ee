-- AlterTable
ALTER TABLE "incarnations" ADD COLUMN     "lost_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "tenants" ADD COLUMN     "quota_due_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "usage_journals" ADD COLUMN     "doubtful" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "usage_periods" ADD COLUMN     "closed_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_transition" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "tenant_calendars" (
    "tenant_id" UUID NOT NULL,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "timezone" TEXT NOT NULL,
    "anchor_day" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "tenant_calendars_pkey" PRIMARY KEY ("tenant_id","from_at")
);

-- CreateTable
CREATE TABLE "top_ups" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "meter" TEXT NOT NULL,
    "units" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "ticket" TEXT,
    "priority" INTEGER NOT NULL DEFAULT 100,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),
    "withdrawn_by" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "top_ups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "top_up_draws" (
    "top_up_id" UUID NOT NULL,
    "period_id" TEXT NOT NULL,
    "units" BIGINT NOT NULL,
    "is_final" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "top_up_draws_pkey" PRIMARY KEY ("top_up_id","period_id")
);

-- CreateTable
CREATE TABLE "usage_counters" (
    "tenant" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL,
    "counted" BIGINT NOT NULL DEFAULT 0,
    "counted_at" TIMESTAMPTZ(3) NOT NULL,
    "recovered" BIGINT NOT NULL DEFAULT 0,
    "gap" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_counters_pkey" PRIMARY KEY ("tenant","period_id","meter","part","generation")
);

-- CreateTable
CREATE TABLE "usage_record_ids" (
    "tenant" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "record_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_record_ids_pkey" PRIMARY KEY ("tenant","source","record_id")
);

-- CreateTable
CREATE TABLE "usage_records" (
    "period_id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "record_id" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "units" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "reason" TEXT,

    CONSTRAINT "usage_records_pkey" PRIMARY KEY ("period_id","tenant","source","record_id")
) PARTITION BY RANGE ("period_id");

-- CreateTable
CREATE TABLE "usage_touches" (
    "id" BIGSERIAL NOT NULL,
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,

    CONSTRAINT "usage_touches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_carries" (
    "tenant" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "units" BIGINT NOT NULL,
    "is_final" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "usage_carries_pkey" PRIMARY KEY ("tenant","period_id","meter")
);

-- CreateTable
CREATE TABLE "usage_external" (
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "external" BIGINT NOT NULL DEFAULT 0,
    "late" BIGINT NOT NULL DEFAULT 0,
    "corrections" BIGINT NOT NULL DEFAULT 0,
    "adjusted" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_external_pkey" PRIMARY KEY ("tenant","period_id","meter","part")
);

-- CreateTable
CREATE TABLE "statements" (
    "id" UUID NOT NULL,
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_by" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "previous_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "statements_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "statement_adjustments" (
    "statement_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "meter" TEXT NOT NULL,
    "units" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "reason" TEXT,
    "previous_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "statement_adjustments_pkey" PRIMARY KEY ("statement_id","number")
);

-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "tenant" TEXT,
    "dedupe_key" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "fanned_out_at" TIMESTAMPTZ(3),

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "events" TEXT[],
    "tenant" TEXT,
    "rate_per_second" INTEGER NOT NULL DEFAULT 10,
    "concurrency" INTEGER NOT NULL DEFAULT 4,
    "status" TEXT NOT NULL DEFAULT 'active',
    "disabled_reason" TEXT,
    "secret" TEXT NOT NULL,
    "former_secret" TEXT,
    "former_secret_until" TIMESTAMPTZ(3),
    "last_delivery_at" TIMESTAMPTZ(3),
    "last_status" TEXT,
    "deleted_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "log" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "top_ups_tenant_id_created_at_id_idx" ON "top_ups"("tenant_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "usage_record_ids_received_at_idx" ON "usage_record_ids"("received_at");

-- CreateIndex
CREATE INDEX "statements_closed_at_id_idx" ON "statements"("closed_at", "id");

-- CreateIndex
CREATE INDEX "statements_start_at_tenant_idx" ON "statements"("start_at", "tenant");

-- CreateIndex
CREATE UNIQUE INDEX "statements_tenant_period_id_key" ON "statements"("tenant", "period_id");

-- CreateIndex
CREATE UNIQUE INDEX "statements_tenant_number_key" ON "statements"("tenant", "number");

-- CreateIndex
CREATE UNIQUE INDEX "events_dedupe_key_key" ON "events"("dedupe_key");

-- CreateIndex
CREATE INDEX "events_fanned_out_at_created_at_idx" ON "events"("fanned_out_at", "created_at");

-- CreateIndex
CREATE INDEX "events_tenant_type_at_idx" ON "events"("tenant", "type", "at");

-- CreateIndex
CREATE INDEX "webhooks_created_at_id_idx" ON "webhooks"("created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_state_next_attempt_at_idx" ON "webhook_deliveries"("state", "next_attempt_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_created_at_id_idx" ON "webhook_deliveries"("webhook_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_webhook_id_event_id_key" ON "webhook_deliveries"("webhook_id", "event_id");

-- CreateIndex
CREATE INDEX "tenants_quota_due_at_idx" ON "tenants"("quota_due_at");

-- CreateIndex
CREATE INDEX "usage_periods_closed_at_end_at_idx" ON "usage_periods"("closed_at", "end_at");

-- AddForeignKey
ALTER TABLE "tenant_calendars" ADD CONSTRAINT "tenant_calendars_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "top_up_draws" ADD CONSTRAINT "top_up_draws_top_up_id_fkey" FOREIGN KEY ("top_up_id") REFERENCES "top_ups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "statement_adjustments" ADD CONSTRAINT "statement_adjustments_statement_id_fkey" FOREIGN KEY ("statement_id") REFERENCES "statements"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- From here on by hand: what the Prisma schema cannot say.

-- Journals and records are partitioned by the month their period starts in, so that a closed year is dropped or archived as a whole.
ALTER TABLE "usage_journals" RENAME TO "usage_journals_unpartitioned";
ALTER TABLE "usage_journals_unpartitioned" RENAME CONSTRAINT "usage_journals_pkey" TO "usage_journals_unpartitioned_pkey";
ALTER INDEX "usage_journals_period_id_tenant_idx" RENAME TO "usage_journals_unpartitioned_period_id_tenant_idx";
CREATE TABLE "usage_journals" (LIKE "usage_journals_unpartitioned" INCLUDING DEFAULTS,
  CONSTRAINT "usage_journals_pkey" PRIMARY KEY ("tenant","period_id","meter","part","class","generation","incarnation")
) PARTITION BY RANGE ("period_id");
CREATE INDEX "usage_journals_period_id_tenant_idx" ON "usage_journals"("period_id", "tenant");
CREATE INDEX "usage_journals_incarnation_idx" ON "usage_journals"("incarnation");
CREATE TABLE "usage_journals_default" PARTITION OF "usage_journals" DEFAULT;
CREATE TABLE "usage_records_default" PARTITION OF "usage_records" DEFAULT;

-- Makes the partitions of some months, `first_month` included. Rows that waited in the default partition move. Harmless to repeat, and for several at once.
CREATE FUNCTION create_usage_partitions(first_month date, months int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  month date;
  parent text;
  child text;
  made int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(72707371);
  FOR offset_months IN 0 .. months - 1 LOOP
    month := (date_trunc('month', first_month) + make_interval(months => offset_months))::date;
    FOREACH parent IN ARRAY ARRAY['usage_journals', 'usage_records'] LOOP
      child := parent || to_char(month, '"_"YYYY"_"MM');
      CONTINUE WHEN to_regclass(child) IS NOT NULL;
      EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING INDEXES)', child, parent);
      EXECUTE format('WITH moved AS (DELETE FROM %I WHERE period_id >= %L AND period_id < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
        parent || '_default', month::text, (month + interval '1 month')::date::text, child);
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child, month::text, (month + interval '1 month')::date::text);
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;
SELECT create_usage_partitions((SELECT COALESCE(min(period_id)::date, now()::date) FROM usage_journals_unpartitioned),
  (SELECT (extract(year FROM age(date_trunc('month', now()), date_trunc('month', COALESCE(min(period_id)::date, now()::date)))) * 12
    + extract(month FROM age(date_trunc('month', now()), date_trunc('month', COALESCE(min(period_id)::date, now()::date)))))::int + 4 FROM usage_journals_unpartitioned));
INSERT INTO "usage_journals" SELECT * FROM "usage_journals_unpartitioned";
DROP TABLE "usage_journals_unpartitioned";

-- Statements are append-only for every role that goes through SQL, as the audit log is.
CREATE FUNCTION refuse_statement_mutation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER statements_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statements FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_mutation();
CREATE TRIGGER statement_adjustments_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statement_adjustments FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_mutation();
