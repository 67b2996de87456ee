import { randomUUID } from 'node:crypto';
import { JOURNAL_DOCUMENT_VERSION, redisKeys, type JournalDocument } from '@quotaplane/contracts';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { ControlPlane } from '../../story/rig/control-plane';

type Cell = JournalDocument['counts'][number];

/** Every journal that stands in Redis, as a document that its node might post. */
export async function journalDocuments(redis: Redis): Promise<JournalDocument[]> {
  const documents: JournalDocument[] = [];
  for (const incarnation of await redis.smembers(redisKeys.journals)) {
    const fields = await redis.hgetall(redisKeys.journal(incarnation));
    const cells = new Map<string, Cell>();
    for (const [field, units] of Object.entries(fields)) {
      const [tenant = '', meter = '', period = '', part, className = '', generation, count = '', ...rest] = field.split('|');
      if (generation === undefined || rest.length > 0) continue;
      const id = field.slice(0, field.lastIndexOf('|'));
      const cell = cells.get(id) ?? { tenant, meter, period, part: Number(part), class: className, generation: Number(generation), admitted: 0, refunded: 0, degraded: 0, doubtful: 0, degradedByHour: [] };
      if (count === 'admitted' || count === 'refunded' || count === 'degraded' || count === 'doubtful') cells.set(id, { ...cell, [count]: Number(units) });
    }
    if (cells.size === 0) continue;
    documents.push({
      version: JOURNAL_DOCUMENT_VERSION, incarnation, service: fields['#service'] ?? 'echo', sequence: Number(fields['#seq'] ?? 0),
      at: new Date(Number(fields['#at'] ?? 0)).toISOString(), closed: false, counts: [...cells.values()],
    });
  }
  return documents;
}

/** Says again what was said before: journals are posted twice and in the wrong order, and a worker's jobs are sent once more. */
export class Repeats {
  count = 0;
  private readonly said: JournalDocument[] = [];
  private readonly queue: Queue;

  constructor(private readonly control: ControlPlane, private readonly redis: Redis, redisUrl: string) {
    this.queue = new Queue('sweeps', { prefix: '{qp-jobs}', connection: { url: redisUrl, maxRetriesPerRequest: null }, skipVersionCheck: true });
    this.queue.on('error', () => undefined);
  }

  /** One round of repeats; what a store that is away refuses is left out. */
  async sayAgain(): Promise<void> {
    this.said.push(...(await journalDocuments(this.redis).catch(() => [])));
    const old = this.said[Math.floor(Math.random() * this.said.length)];
    for (const document of [this.said.at(-1), old, old]) {
      if (!document) continue;
      const { status } = await this.control.try('POST', '/v1/journals', { body: document }).catch(() => ({ status: 0 }));
      if (status === 200) this.count += 1;
    }
    if (this.redis.status !== 'ready') return;
    const options = { removeOnComplete: true, removeOnFail: true };
    const jobs = ['usage', 'usage', 'usage', 'reconciliation', 'quotas', 'changes'].map((name) => ({ name, data: {}, opts: { ...options, jobId: `again-${randomUUID()}` } }));
    await this.queue.addBulk(jobs).then(() => (this.count += jobs.length), () => undefined);
  }

  async end(): Promise<void> {
    await this.queue.disconnect();
  }
}
