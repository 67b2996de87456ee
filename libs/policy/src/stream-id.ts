/** Id of the first moment of a stream: before every entry, and the position of a follower whose stream does not exist yet. */
export const STREAM_START = '0-0';

/**
 * Orders two Redis stream ids `<ms>-<seq>` by number: as text `9-0` would come after `10-0`, and `5-10` before `5-9`.
 * A malformed id counts as {@link STREAM_START}.
 * @returns negative, 0 or positive, as for sort()
 */
export function compareStreamIds(left: string, right: string): number {
  const [leftMs, leftSeq] = parts(left);
  const [rightMs, rightSeq] = parts(right);
  return leftMs - rightMs || leftSeq - rightSeq;
}

function parts(id: string): readonly [number, number] {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return match ? [Number(match[1]), Number(match[2])] : [0, 0];
}
