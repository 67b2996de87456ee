import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectLimitRedis, createLimitStore } from '@quotaplane/rate-limit';
import type { EventType } from '@quotaplane/contracts';
import { ChangesService } from '../audit/changes.service';
import { readConfig } from '../config/app-config';
import type { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { recordEvents } from '../events/record-events';
import { OutboundLimits } from './outbound-limits';
import { ReceiverAddress, resolveBySystem, type ResolveName } from './receiver-address';
import { newSecret } from './signature';
import { WebhookMetrics } from './webhook-metrics';
import { WebhookSender, type SenderParts } from './webhook-sender';

export interface ReceivedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly path: string;
}
/** Answers one request; an answer that is never ended is a hang. */
export type Answer = (response: ServerResponse, delivery: ReceivedDelivery, count: number) => void;
export const answering = (status: number, headers: Record<string, string> = {}): Answer => (response) => void response.writeHead(status, headers).end('noted');

/** For specs: a real receiver on a random port. */
export class Receiver {
  readonly received: ReceivedDelivery[] = [];
  answer: Answer = answering(204);
  /** Most requests that were open at once. */
  mostAtOnce = 0;
  private open = 0;

  private constructor(private readonly server: Server, readonly port: number) {}

  static async start(): Promise<Receiver> {
    const server = createServer((request, response) => {
      let body = '';
      receiver.mostAtOnce = Math.max(receiver.mostAtOnce, (receiver.open += 1));
      response.on('close', () => (receiver.open -= 1));
      request.setEncoding('utf8').on('data', (text: string) => (body += text)).on('end', () => {
        const delivery = { headers: plain(request.headers), body, path: request.url ?? '' };
        receiver.received.push(delivery);
        receiver.answer(response, delivery, receiver.received.length);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const receiver = new Receiver(server, (server.address() as AddressInfo).port);
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  get ids(): string[] {
    return this.received.map(({ headers }) => headers['webhook-id'] ?? '');
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

const plain = (headers: IncomingHttpHeaders): Record<string, string> => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

export interface SenderOptions {
  readonly clock: Clock;
  readonly resolve?: ResolveName;
  readonly allowPrivate?: boolean;
  readonly timeoutMs?: number;
  readonly prisma?: PrismaService;
}

/** For specs: sending sides of workers over real stores, whose limiter keeps the spec's clock. */
export class WebhookRig {
  readonly prisma: PrismaService;
  private readonly closers: (() => Promise<unknown>)[] = [];

  constructor(private readonly stores: { readonly databaseUrl: string; readonly redisUrl: string }) {
    this.prisma = new PrismaService(this.config(true));
  }

  private config(allowsPrivate: boolean) {
    const { databaseUrl, redisUrl } = this.stores;
    return readConfig({
      DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUOTAPLANE_DB_POOL: '15', QUOTAPLANE_DB_ACQUIRE_MS: '10000', QUOTAPLANE_WEBHOOKS_ALLOW_PRIVATE: allowsPrivate ? '1' : '0',
    });
  }

  /** One worker's sender. */
  async sender({ clock, resolve = resolveBySystem, allowPrivate = true, timeoutMs = 10_000, prisma = this.prisma }: SenderOptions): Promise<{ sender: WebhookSender; parts: SenderParts }> {
    const redis = connectLimitRedis(this.stores.redisUrl);
    const store = createLimitStore(redis, { testClock: () => clock.now() });
    if (redis.status !== 'ready') await new Promise<void>((done) => redis.once('ready', () => done()));
    const parts = {
      prisma, changes: new ChangesService(prisma, clock, null), clock, address: new ReceiverAddress(this.config(allowPrivate), resolve), random: () => 0.5,
      timeoutMs, limits: new OutboundLimits(store), metrics: new WebhookMetrics(),
    };
    const sender = new WebhookSender(parts);
    this.closers.push(() => sender.stop().then(() => store.close()).then(() => redis.disconnect()));
    return { sender, parts };
  }

  async endpoint(url: string, fields: { events?: EventType[]; tenant?: string; ratePerSecond?: number; concurrency?: number } = {}) {
    const { events = ['override.ending'], ...rest } = fields;
    return this.prisma.webhook.create({ data: { url, events, secret: newSecret(), createdBy: 'spec', ratePerSecond: 1_000, concurrency: 100, ...rest } });
  }

  /** @returns ids of the events, in the order of their keys */
  async events(keys: readonly string[], fields: { type?: EventType; tenant?: string; at?: Date } = {}): Promise<string[]> {
    const { type = 'override.ending', tenant = 'acme', at = new Date() } = fields;
    await this.prisma.transaction((tx) => recordEvents(tx, keys.map((dedupeKey) => ({ type, tenant, dedupeKey, at, data: { tenant, key: dedupeKey } }))));
    const rows = await this.prisma.event.findMany({ where: { dedupeKey: { in: [...keys] } }, orderBy: { dedupeKey: 'asc' } });
    return rows.map(({ id }) => id);
  }

  async deliveries(webhookId: string) {
    return this.prisma.webhookDelivery.findMany({ where: { webhookId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  }

  /** Between specs: no endpoint of one gets the events of the next. */
  async clear(): Promise<void> {
    await this.prisma.webhookDelivery.deleteMany();
    await this.prisma.event.deleteMany();
    await this.prisma.webhook.deleteMany();
  }

  async stop(): Promise<void> {
    await Promise.all(this.closers.map((close) => close()));
    await this.prisma.$disconnect();
  }
}
