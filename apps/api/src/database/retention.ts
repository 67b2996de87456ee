import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../config/clock';
import { PrismaService } from './prisma.service';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long each kind of row is of use. An Idempotency-Key is promised for 7 days. */
export const RETENTION_MS = { idempotencyKeys: 7 * DAY_MS, endedSessions: 30 * DAY_MS, signInAttempts: DAY_MS } as const;

/** Deletes rows that nobody can use any more, each hour. Any number of processes may do it at once. */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.sweep().catch((error: unknown) => this.logger.warn(`The sweep failed and is tried again in an hour: ${String(error)}`));
    }, HOUR_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  async sweep(): Promise<void> {
    const before = (ageMs: number): Date => new Date(this.clock.now() - ageMs);
    await this.prisma.idempotencyKey.deleteMany({ where: { createdAt: { lt: before(RETENTION_MS.idempotencyKeys) } } });
    await this.prisma.session.deleteMany({ where: { expiresAt: { lt: before(RETENTION_MS.endedSessions) } } });
    await this.prisma.signInAttempt.deleteMany({ where: { windowStart: { lt: before(RETENTION_MS.signInAttempts) } } });
  }
}
