import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { AppConfig } from '../config/app-config';
import { Prisma, PrismaClient } from './generated/client';

/** The client inside a transaction. */
export type Tx = Prisma.TransactionClient;

export interface TransactionOptions {
  readonly isolationLevel?: 'ReadCommitted' | 'RepeatableRead' | 'Serializable';
  /** Longest life of the transaction in ms; default 10,000. */
  readonly timeoutMs?: number;
}

/** A lock is never waited for longer than this: its holder is a stuck transaction, and the caller may try again. */
const LOCK_TIMEOUT_MS = 1_500;
const IDLE_IN_TRANSACTION_MS = 15_000;

/**
 * Postgres through Prisma. An exhausted pool is refused after `databaseAcquireMs`, never queued for longer:
 * the error filter makes 503 `store_unavailable` of it.
 */
@Injectable()
export class PrismaService extends PrismaClient implements OnModuleDestroy {
  constructor(@Inject(AppConfig) private readonly config: AppConfig) {
    const settings = `-c lock_timeout=${LOCK_TIMEOUT_MS} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`;
    super({
      adapter: new PrismaPg({
        connectionString: config.databaseUrl,
        max: config.databasePoolSize,
        connectionTimeoutMillis: config.databaseAcquireMs,
        application_name: 'quotaplane-api',
        options: settings,
      }),
    });
  }

  /** Runs `work` in one transaction: all of it is committed, or, when it throws, none. */
  transaction<T>(work: (tx: Tx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.$transaction(work, {
      maxWait: this.config.databaseAcquireMs,
      timeout: options.timeoutMs ?? 10_000,
      ...(options.isolationLevel ? { isolationLevel: options.isolationLevel } : {}),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.$disconnect();
  }
}
