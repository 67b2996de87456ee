import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { PolicyRedis } from './policy-redis';
import { runScript } from './run-script';

const changedReply = z.string().nullable();

/** The last good text of one document, parsed once; its digest tells the store what need not be sent again. */
export class CachedDocument<Content> {
  content: Content | undefined;
  private sha1 = '';
  private begunReads = 0;
  private takenRead = 0;

  /** @param parse null where the text is none of ours */
  constructor(
    private readonly key: string,
    private readonly parse: (text: string) => Content | null,
  ) {}

  /**
   * Reads what has changed.
   * @returns false where the store holds none, or none of ours; the last good content stays
   * @throws when the store is away
   */
  async refresh(redis: PolicyRedis): Promise<boolean> {
    const read = (this.begunReads += 1);
    const text = changedReply.parse(await runScript(redis, 'read-changed', [this.key], [this.sha1]));
    // A read that was sent again by its text may be overtaken by a later one.
    if (read < this.takenRead) return true;
    this.takenRead = read;
    return text === '' || (text !== null && this.take(text));
  }

  private take(text: string): boolean {
    const content = this.parse(text);
    if (content === null) return false;
    this.content = content;
    this.sha1 = createHash('sha1').update(text).digest('hex');
    return true;
  }
}
