-- CreateIndex
CREATE INDEX "overrides_until_at_idx" ON "overrides"("until_at");
