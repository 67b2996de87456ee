import { DomainError } from '@quotaplane/contracts';
import { completeIdempotencyKey } from '../database/idempotency-sql';
import type { Tx } from '../database/prisma.service';
import type { IdempotencyClaim } from '../http/request-context';

/**
 * Keeps the answer under the request's key, inside the change's own transaction: a crash leaves both or neither.
 * @throws {DomainError} idempotency_running: another send took the claim over, so this one must not take effect too
 */
export async function storeAnswer(tx: Tx, claim: IdempotencyClaim, answer: object): Promise<void> {
  const shown = Object.fromEntries(Object.entries(answer).filter(([member]) => !claim.secretFields.includes(member)));
  const isOurs = await completeIdempotencyKey(tx, claim, shown);
  if (!isOurs) throw new DomainError('idempotency_running', 'Another request with this Idempotency-Key is running; try again shortly');
}
