import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FeedEntry } from '@quotaplane/contracts';
import { ChangeFeed } from '@quotaplane/policy';
import { Redis } from 'ioredis';
import { AppConfig } from '../config/app-config';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { OffendersService } from '../offenders/offenders.service';
import { EventStream, type ConsoleEvent } from './event-stream';
import { ReceiptsService } from './receipts.service';

const HEARTBEAT_MS = 15_000;
const RECEIPTS_MS = 100;
const SECOND_MS = 1_000;
/** A change whose last receipt has not come by then is no news any more; the console asks for it. */
const FOLLOW_MS = 30_000;
const FOLLOWED_MAX = 200;

interface Reader {
  readonly stream: EventStream;
  readonly caller: Pick<Caller, 'kind' | 'id' | 'session'>;
}

/** Tells open consoles what happens: changes published, their receipts, denials, nodes. Reads nothing while nobody listens. */
@Injectable()
export class EventsService implements OnModuleDestroy {
  private readonly readers = new Set<Reader>();
  private readonly followed = new Map<string, number>();
  private timers: NodeJS.Timeout[] = [];
  private feed: ChangeFeed | undefined;
  private lastNodes = '';
  private lastDenials = '';

  constructor(
    @Inject(AppConfig) private readonly config: AppConfig,
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ReceiptsService) private readonly receipts: ReceiptsService,
    @Inject(OffendersService) private readonly offenders: OffendersService,
  ) {}

  open(caller: Caller): EventStream {
    const reader = { stream: new EventStream(), caller };
    this.readers.add(reader);
    reader.stream.body.once('close', () => this.leave(reader));
    // A reset connection is the reader's way to leave.
    reader.stream.body.on('error', () => undefined);
    if (this.readers.size === 1) this.start();
    this.lastNodes = '';
    this.lastDenials = '';
    return reader.stream;
  }

  async onModuleDestroy(): Promise<void> {
    for (const { stream } of this.readers) stream.end();
    await this.stop();
  }

  private leave(reader: Reader): void {
    this.readers.delete(reader);
    if (this.readers.size === 0) void this.stop();
  }

  private start(): void {
    this.feed = new ChangeFeed({
      connect: () => {
        const redis = new Redis(this.config.redisUrl, { maxRetriesPerRequest: 0, enableOfflineQueue: false });
        redis.on('error', () => undefined);
        return redis;
      },
      handler: { entry: (entry, id) => this.published(entry, id), gap: () => undefined },
      onError: () => undefined,
    });
    // Without the store the feed keeps trying by itself.
    this.feed.start().catch(() => undefined);
    this.timers = [
      setInterval(() => this.readers.forEach(({ stream }) => stream.heartbeat()), HEARTBEAT_MS),
      repeat(RECEIPTS_MS, () => this.tellReceipts()),
      repeat(SECOND_MS, () => this.tellNodes()),
      repeat(SECOND_MS, () => this.tellDenials()),
      repeat(SECOND_MS, () => this.dismissEnded()),
    ];
  }

  private async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    this.timers = [];
    this.followed.clear();
    const { feed } = this;
    this.feed = undefined;
    await feed?.stop();
  }

  private tell(event: ConsoleEvent): void {
    for (const { stream } of this.readers) stream.send(event);
  }

  private published({ changeId, topic, subject, revision }: FeedEntry, position: string): void {
    this.tell({ event: 'change', data: { changeId: changeId === '' ? null : changeId, topic, subject, revision, position } });
    if (changeId !== '' && this.followed.size < FOLLOWED_MAX) this.followed.set(changeId, Date.now() + FOLLOW_MS);
  }

  private async tellReceipts(): Promise<void> {
    for (const [changeId, untilMs] of this.followed) {
      const receipts = await this.receipts.get(changeId);
      const isOver = (receipts.tookMs !== null && receipts.nodes.lagging.length === 0) || Date.now() > untilMs;
      if (isOver) this.followed.delete(changeId);
      if (receipts.state === 'published') this.tell({ event: 'receipts', data: receipts });
    }
  }

  private async tellNodes(): Promise<void> {
    const { items } = await this.receipts.listNodes({ query: { limit: 200 } });
    // Each node is heard every second: only a change of who is there, and how, is news.
    const gist = JSON.stringify(items.map(({ incarnation, mode, alive, position }) => [incarnation, mode, alive, position]));
    if (gist !== this.lastNodes) this.tell({ event: 'nodes', data: { items } });
    this.lastNodes = gist;
  }

  private async tellDenials(): Promise<void> {
    const { items } = await this.offenders.list({ boundTenant: null }, { query: { minutes: 15, limit: 20 } });
    const text = JSON.stringify(items);
    if (text !== this.lastDenials) this.tell({ event: 'denials', data: { items } });
    this.lastDenials = text;
  }

  /** A session or token that has ended is no reader any more, within the second that it has to die in (P19, P20). */
  private async dismissEnded(): Promise<void> {
    const readers = [...this.readers];
    const now = new Date();
    const [sessions, tokens] = await Promise.all([
      this.prisma.session.findMany({
        where: { idHash: { in: readers.flatMap(({ caller }) => (caller.session ? [caller.session.idHash] : [])) }, endedAt: null, expiresAt: { gt: now }, operator: { disabled: false } },
        select: { idHash: true },
      }),
      this.prisma.apiToken.findMany({
        where: { id: { in: readers.flatMap(({ caller }) => (caller.kind === 'token' ? [caller.id] : [])).filter(isUuid) }, OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] },
        select: { id: true },
      }),
    ]);
    const alive = new Set(sessions.map(({ idHash }) => idHash));
    const revoked = new Set(tokens.map(({ id }) => id));
    for (const { stream, caller } of readers) {
      if ((caller.session && !alive.has(caller.session.idHash)) || revoked.has(caller.id)) stream.end();
    }
  }
}

const isUuid = (text: string): boolean => /^[0-9a-f-]{36}$/i.test(text);

/** One run at a time; a failing one (a store is away) is tried again at the next tick. */
function repeat(everyMs: number, work: () => Promise<void>): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    work().catch(() => undefined).finally(() => {
      isRunning = false;
    });
  }, everyMs);
}
