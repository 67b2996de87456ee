import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DomainError, RIGHTS } from '@quotaplane/contracts';
import { hashSecret } from '@quotaplane/guard';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { AppConfig } from '../config/app-config';
import { PrismaService } from '../database/prisma.service';
import { refusalOf } from '../http/problem';
import { SYSTEM_CALLER } from '../http/caller';
import { operatorFrom } from './operators.mapping';
import { hashPassword } from './password';
import { tokenFrom } from './tokens.mapping';

const BOOTSTRAP = 'bootstrap';

/**
 * Ids of bootstrap tokens. Names and `createdBy` are words that callers choose too; an id of this range is given by nobody else, for all
 * others are random version 4 ids.
 */
const ID_PREFIX = '00000000-0000-8000-8000-';
const BOOTSTRAP_IDS = { gte: `${ID_PREFIX}${'0'.repeat(12)}`, lte: `${ID_PREFIX}${'f'.repeat(12)}` };

/** Lets the first people in: the bootstrap token and the first operator, from the environment. Both are changes like any other, and audited. */
@Injectable()
export class BootstrapService implements OnApplicationBootstrap {
  constructor(
    @Inject(AppConfig) private readonly config: AppConfig,
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await unlessAnotherProcessDid(() => this.ensureToken());
    await unlessAnotherProcessDid(() => this.ensureOperator());
  }

  /** A token revoked by hand stays revoked; one whose variable was changed is revoked here. */
  private async ensureToken(): Promise<void> {
    const { bootstrapToken } = this.config;
    if (bootstrapToken === undefined) return;
    const secretHash = hashSecret(bootstrapToken);
    const old = await this.prisma.apiToken.findMany({ where: { id: BOOTSTRAP_IDS, revokedAt: null, secretHash: { not: secretHash } } });
    for (const row of old) await this.revoke(row.id);
    if (await this.prisma.apiToken.findUnique({ where: { secretHash } })) return;
    await this.changes.commit(SYSTEM_CALLER, [PLATFORM_CHAIN], async (tx) => {
      const row = await tx.apiToken.create({
        data: {
          id: `${ID_PREFIX}${randomBytes(6).toString('hex')}`, name: BOOTSTRAP, createdBy: BOOTSTRAP, secretHash, hint: bootstrapToken.slice(0, 4),
          scopes: [...RIGHTS], binding: { kind: 'platform' },
        },
      });
      const token = tokenFrom(row);
      return { answer: {}, action: 'token.create', entity: { type: 'token', id: token.id }, topics: [], before: null, after: token };
    });
  }

  private async revoke(id: string): Promise<void> {
    await this.changes.commit(SYSTEM_CALLER, [PLATFORM_CHAIN], async (tx, { at }) => {
      const before = tokenFrom(await tx.apiToken.findUniqueOrThrow({ where: { id } }));
      const after = tokenFrom(await tx.apiToken.update({ where: { id }, data: { revokedAt: at, version: { increment: 1 } } }));
      return {
        answer: {}, action: 'token.revoke', entity: { type: 'token', id }, topics: [], before, after,
        reason: 'QUOTAPLANE_BOOTSTRAP_TOKEN holds another token since this start',
      };
    });
  }

  private async ensureOperator(): Promise<void> {
    const { adminEmail: email, adminPassword } = this.config;
    if (email === undefined || adminPassword === undefined) return;
    if (await this.prisma.operator.findUnique({ where: { email } })) return;
    const passwordHash = await hashPassword(adminPassword);
    await this.changes.commit(SYSTEM_CALLER, [PLATFORM_CHAIN], async (tx) => {
      const operator = operatorFrom(await tx.operator.create({ data: { email, name: 'First operator', role: 'admin', passwordHash } }));
      return { answer: {}, action: 'operator.create', entity: { type: 'operator', id: operator.id }, topics: [], before: null, after: operator };
    });
  }
}

/** Two processes that start together meet on the unique key; the loser has nothing left to do. */
async function unlessAnotherProcessDid(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const refusal: DomainError = refusalOf(error);
    if (refusal.code !== 'conflict') throw error;
  }
}
