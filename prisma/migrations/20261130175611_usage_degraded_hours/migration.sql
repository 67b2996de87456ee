-- CreateTable
CREATE TABLE "usage_degraded_hours" (
    "incarnation" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "period_id" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "class" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "units" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_degraded_hours_pkey" PRIMARY KEY ("tenant","period_id","meter","hour","class","part","generation","incarnation")
);

-- CreateIndex
CREATE INDEX "usage_degraded_hours_hour_tenant_idx" ON "usage_degraded_hours"("hour", "tenant");
