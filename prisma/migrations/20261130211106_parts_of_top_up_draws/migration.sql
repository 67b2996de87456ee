-- AlterTable
ALTER TABLE "top_up_draws" DROP CONSTRAINT "top_up_draws_pkey",
ADD COLUMN     "part" INTEGER NOT NULL DEFAULT 1,
ADD CONSTRAINT "top_up_draws_pkey" PRIMARY KEY ("top_up_id", "period_id", "part");
