-- AlterTable
ALTER TABLE "overrides" ADD COLUMN     "subject_field" TEXT NOT NULL DEFAULT '';

-- CreateTable
CREATE TABLE "list_entries" (
    "id" UUID NOT NULL,
    "list" TEXT NOT NULL,
    "tenant" TEXT,
    "scope" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "ticket" TEXT,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "until_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "list_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "list_entries_list_created_at_id_idx" ON "list_entries"("list", "created_at", "id");

-- CreateIndex
CREATE INDEX "list_entries_tenant_created_at_id_idx" ON "list_entries"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "list_entries_ended_at_until_at_idx" ON "list_entries"("ended_at", "until_at");

-- CreateIndex
CREATE INDEX "overrides_tenant_id_subject_field_created_at_id_idx" ON "overrides"("tenant_id", "subject_field", "created_at", "id");
