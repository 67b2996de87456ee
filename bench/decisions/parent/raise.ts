import { OURS } from '../contenders/registry';
import { tenantOf } from '../scenario';
import { spreadOf, type Spread } from './figures';
import { WrongAnswerError } from './rounds';
import type { Stage } from './stage';

/** Longest that a node may answer for a denied subject from memory. */
const REMEMBERED_MS = 250;
const RAISES = 10;

/**
 * From the publication of a raised limit until a subject that was surely denied is admitted, ms.
 * @throws {WrongAnswerError} it was admitted before, or is still denied after 250 ms
 */
export async function measureRaise(stage: Stage): Promise<Spread> {
  const ours = await stage.contender(OURS);
  const isAdmitted = async (subject: number): Promise<boolean> => (await ours.burst('denied', { from: subject, subjects: 1, times: 1 }))[0] === 1;
  const waits: number[] = [];
  for (let raise = 0; raise < RAISES; raise += 1) {
    await stage.world.move(tenantOf.denied, 'denied', 2 + 2 * raise);
    await ours.touch('denied', raise + 1);
    if (await isAdmitted(raise)) throw new WrongAnswerError('a denied subject was admitted before the raise');
    await stage.world.move(tenantOf.denied, 'raised', 3 + 2 * raise);
    const publishedAtMs = performance.now();
    let waitMs = 0;
    while (!(await isAdmitted(raise))) {
      waitMs = performance.now() - publishedAtMs;
      if (waitMs > REMEMBERED_MS) throw new WrongAnswerError(`a subject was denied ${Math.round(waitMs)} ms after its limit was raised`);
    }
    waits.push(waitMs);
  }
  return spreadOf(waits);
}
