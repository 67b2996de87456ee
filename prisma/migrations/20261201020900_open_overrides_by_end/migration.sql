-- By hand: what the Prisma schema cannot say. How many overrides run, or have ended, is looked at before they are listed.
CREATE INDEX overrides_until_idx ON overrides (until_at) WHERE reverted_at IS NULL;
