/** One read per key at a time; a caller is served by a read that was under way only if that read is new enough for it. */
export class CoalescedLoads<Answer> {
  private readonly running = new Map<string, Promise<Answer>>();

  /**
   * @param read must not reject
   * @param isEnough whether an answer serves this caller
   * @param tooOld the answer when even a read that began after the call is not enough
   */
  async load(key: string, read: () => Promise<Answer>, isEnough: (answer: Answer) => boolean, tooOld: Answer): Promise<Answer> {
    const joined = this.running.get(key);
    if (joined !== undefined) {
      const answer = await joined;
      if (isEnough(answer)) return answer;
    }
    // Whoever else waited for the old read may have begun the next one by now; it began after this call, so it is the last word.
    const answer = await (this.running.get(key) ?? this.begin(key, read));
    return isEnough(answer) ? answer : tooOld;
  }

  private begin(key: string, read: () => Promise<Answer>): Promise<Answer> {
    const promise = read().finally(() => {
      if (this.running.get(key) === promise) this.running.delete(key);
    });
    this.running.set(key, promise);
    return promise;
  }
}
