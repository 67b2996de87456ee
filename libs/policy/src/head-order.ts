import { parseHead } from '@quotaplane/contracts';

/**
 * Whether a head has everything another one had. Revision and generation of a tenant both only grow, so either of them lower means
 * that old data came back. Heads that are not numbers (`unknown`, `deleted`) order nothing and reach each other only when equal.
 */
export function reaches(head: string, wanted: string): boolean {
  if (head === wanted) return true;
  const [have, want] = [parseHead(head), parseHead(wanted)];
  return have !== null && want !== null && have.revision >= want.revision && have.generation >= want.generation;
}
