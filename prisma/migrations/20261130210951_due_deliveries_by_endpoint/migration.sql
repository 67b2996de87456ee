-- DropIndex
DROP INDEX "webhook_deliveries_state_next_attempt_at_idx";

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_state_next_attempt_at_idx" ON "webhook_deliveries"("webhook_id", "state", "next_attempt_at");
