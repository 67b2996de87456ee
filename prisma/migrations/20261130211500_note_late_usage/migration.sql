-- CreateTable
CREATE TABLE "usage_late" (
    "tenant" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "usage_late_pkey" PRIMARY KEY ("tenant","period_id")
);

-- From here on by hand: what the Prisma schema cannot say.

-- Whatever is written to a period that has ended is noted in the same transaction, so that adjustments are found without looking through closed periods.
-- Noted also before the period is closed: a fold that began before the closing may commit after it. The update of a noted row locks it, so that a sweep
-- cannot take the note of a writer that has not committed yet.
CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_late (tenant, period_id, noted_at)
    SELECT p.tenant, p.period_id, clock_timestamp() FROM (SELECT DISTINCT tenant, period_id FROM changed) c
    JOIN usage_periods p ON p.tenant = c.tenant AND p.period_id = c.period_id
    WHERE p.closed_at IS NOT NULL OR p.end_at <= clock_timestamp()
    ORDER BY p.tenant, p.period_id
  ON CONFLICT (tenant, period_id) DO UPDATE SET noted_at = excluded.noted_at;
  RETURN NULL;
END $$;
CREATE TRIGGER usage_journals_note_insert AFTER INSERT ON usage_journals REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER usage_journals_note_update AFTER UPDATE ON usage_journals REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER usage_external_note_insert AFTER INSERT ON usage_external REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER usage_external_note_update AFTER UPDATE ON usage_external REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER usage_counters_note_insert AFTER INSERT ON usage_counters REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
CREATE TRIGGER usage_counters_note_update AFTER UPDATE ON usage_counters REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_late_usage();
