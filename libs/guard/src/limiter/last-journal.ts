import { postJournal, type Journal } from '@quotaplane/usage';
import type { PlatformAddress } from '../options';
import type { LimiterLogger } from './limiter-logger';
import { within } from './within';

/** Longest wait for the store, and for the control plane after it, in ms: an end that takes longer is cut off by whoever asked for it. */
const FLUSH_WAIT_MS = 2000;
const POST_WAIT_MS = 2500;

/**
 * Saves what a node used before it ends: in Redis; while that is away, at the control plane where the node knows one; else in the log, to the unit.
 * Doing both is harmless, for both fold the same totals of this life (ADR 3).
 */
export async function saveLastJournal(journal: Pick<Journal, 'close' | 'snapshot'>, platform: PlatformAddress | undefined, logger: LimiterLogger): Promise<void> {
  const closed = await within(FLUSH_WAIT_MS, journal.close());
  if (closed !== undefined && Object.keys(closed.atRisk).length === 0) return;
  const document = journal.snapshot();
  if (document.counts.length === 0) return;
  const posted = platform && (await postJournal({ ...platform, document, timeoutMs: POST_WAIT_MS }));
  if (posted?.isPosted === true) {
    logger.warn(`the store is away: the control plane took the last journal, ${posted.accepted} of ${document.counts.length} counts`);
    if (posted.refused.length > 0) logger.error(`counts that the control plane refused: ${JSON.stringify(posted.refused)}; of ${JSON.stringify(document)}`);
    return;
  }
  const why = posted === undefined ? 'no control plane is known to this node (option platform)' : posted.detail;
  logger.error(`the last journal reached neither the store nor the control plane (${why}); what may be lost: ${JSON.stringify(document)}`);
}
