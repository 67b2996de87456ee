import type { Tx } from './prisma.service';

/** Well under `idle_in_transaction_session_timeout`, ms. */
const EVERY_MS = 5_000;

/**
 * Keeps a transaction from looking idle to Postgres while its work goes on elsewhere, such as 100,000 fields on their way to Redis. A process
 * that hangs stops saying so, and loses its locks as it should.
 */
export async function stayAwake<T>(tx: Tx, work: Promise<T>): Promise<T> {
  let said: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    said = tx.$queryRaw`SELECT 1`.catch(() => undefined);
  }, EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    // The transaction's next statement must not meet this one.
    await said;
  }
}
