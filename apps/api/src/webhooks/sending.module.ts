import { Inject, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { connectLimitRedis, createLimitStore, type LimitRedis, type LimitStore } from '@quotaplane/rate-limit';
import { ChangesModule } from '../audit/audit.module';
import { ChangesService } from '../audit/changes.service';
import { AppConfig } from '../config/app-config';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { OutboundLimits } from './outbound-limits';
import { ReceiverAddress, RESOLVE_NAME, resolveBySystem } from './receiver-address';
import { WebhookMetrics } from './webhook-metrics';
import { WebhookSender } from './webhook-sender';

/** Longest attempt. */
const TIMEOUT_MS = 10_000;

/** The limiter's own connection, which never waits for Redis. */
@Injectable()
export class OutboundStore implements OnModuleDestroy {
  readonly store: LimitStore;
  private readonly redis: LimitRedis;

  constructor(@Inject(AppConfig) config: AppConfig) {
    this.redis = connectLimitRedis(config.redisUrl);
    this.store = createLimitStore(this.redis);
  }

  async onModuleDestroy(): Promise<void> {
    await this.store.close();
    this.redis.disconnect();
  }
}

const sender = {
  provide: WebhookSender,
  inject: [PrismaService, ChangesService, Clock, ReceiverAddress, OutboundStore, WebhookMetrics],
  useFactory: (prisma: PrismaService, changes: ChangesService, clock: Clock, address: ReceiverAddress, { store }: OutboundStore, metrics: WebhookMetrics) =>
    new WebhookSender({ prisma, changes, clock, address, metrics, limits: new OutboundLimits(store), random: Math.random, timeoutMs: TIMEOUT_MS }),
};

/** What sends, of the worker process alone. */
@Module({
  imports: [ChangesModule],
  providers: [WebhookMetrics, OutboundStore, ReceiverAddress, { provide: RESOLVE_NAME, useValue: resolveBySystem }, sender],
  exports: [WebhookSender],
})
export class WebhookSendingModule {}
