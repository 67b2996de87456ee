import { journalAccepted, routes, type FieldError, type JournalDocument } from '@quotaplane/contracts';

export interface PostJournalRequest {
  /** Address of the control plane, such as `http://quotaplane:3000`. */
  readonly url: string;
  /** API token with the right `usage:write`, bound to the platform. */
  readonly token: string;
  /** @see Journal.snapshot */
  readonly document: JournalDocument;
  /** Longest wait in all, in ms: half of it for each of two attempts. */
  readonly timeoutMs: number;
}

/** What became of a posted journal. `accepted` = cells that are in the ledger now; `refused` names the others, such as those of unknown tenants. */
export type PostedJournal =
  | { readonly isPosted: true; readonly accepted: number; readonly refused: readonly FieldError[] }
  | { readonly isPosted: false; readonly detail: string };

/** Below any bound of the route, however long the names are. */
const CELLS_PER_PART = 5_000;

/**
 * Posts a journal that Redis could not take. Never throws: the caller logs what was not accepted. Repeats are harmless, so an attempt without an
 * answer is made once more; a large journal goes in parts.
 */
export const postJournal = async ({ url, token, document, timeoutMs }: PostJournalRequest): Promise<PostedJournal> => {
  const deadlineMs = performance.now() + timeoutMs;
  let accepted = 0;
  const refused: FieldError[] = [];
  for (let from = 0; from === 0 || from < document.counts.length; from += CELLS_PER_PART) {
    const part = { ...document, counts: document.counts.slice(from, from + CELLS_PER_PART) };
    const posted = await postPart(url, token, part, deadlineMs);
    if (!posted.isPosted) return { isPosted: false, detail: `${accepted} of ${document.counts.length} cells were accepted; then ${posted.detail}` };
    accepted += posted.accepted;
    refused.push(...posted.refused.map(({ pointer, detail }) => ({ pointer: pointer.replace(/\d+/, (index) => String(Number(index) + from)), detail })));
  }
  return { isPosted: true, accepted, refused };
};

const postPart = async (url: string, token: string, part: JournalDocument, deadlineMs: number): Promise<PostedJournal> => {
  let detail = 'there was no time left';
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const leftMs = Math.floor((deadlineMs - performance.now()) / (2 - attempt));
    if (leftMs <= 0) break;
    try {
      const answer = await fetch(new URL(routes.journalsPost.path.slice(1), url.endsWith('/') ? url : `${url}/`), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(part),
        signal: AbortSignal.timeout(leftMs),
      });
      if (answer.ok) return { isPosted: true, ...journalAccepted.pick({ accepted: true, refused: true }).strip().parse(await answer.json()) };
      detail = `the control plane answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`;
      // What it refuses once it refuses again.
      if (answer.status < 500 && answer.status !== 429) break;
    } catch (error) {
      detail = error instanceof Error ? error.message : String(error);
    }
  }
  return { isPosted: false, detail };
};
