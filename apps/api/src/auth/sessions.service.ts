import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { operatorRole, ROLE_RIGHTS } from '@quotaplane/contracts';
import { Clock } from '../config/clock';
import { PrismaService, type Tx } from '../database/prisma.service';
import type { OperatorRow, SessionRow } from '../database/rows';
import type { Caller } from '../http/caller';

/** A session ends after this long without a request. */
export const IDLE_MS = 30 * 60_000;
/** A session ends this long after sign-in, whatever happens. */
export const ABSOLUTE_MS = 12 * 3_600_000;
/** Last use is written at most this often, so that reading pages is not writing; idleness is exact to it. */
const TOUCH_MS = 15_000;

/** Console sessions. Only the SHA-256 of the cookie's value is stored; each request asks Postgres, so that an end acts at once. */
@Injectable()
export class SessionsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @returns the cookie's value, 256 random bits, and who it stands for */
  async open(operator: OperatorRow): Promise<{ value: string; caller: Caller }> {
    const value = randomBytes(32).toString('base64url');
    const now = this.clock.now();
    const session = await this.prisma.session.create({
      data: { idHash: hashOf(value), operatorId: operator.id, createdAt: new Date(now), lastSeenAt: new Date(now), expiresAt: new Date(now + ABSOLUTE_MS) },
    });
    return { value, caller: callerOf(operator, session, now) };
  }

  /** Who a cookie stands for; undefined when the session is unknown, ended, idle too long, or its operator disabled. */
  async find(value: string): Promise<Caller | undefined> {
    const session = await this.prisma.session.findUnique({ where: { idHash: hashOf(value) }, include: { operator: true } });
    const now = this.clock.now();
    if (!session || session.endedAt || session.operator.disabled) return undefined;
    if (session.expiresAt.getTime() <= now || session.lastSeenAt.getTime() + IDLE_MS <= now) return undefined;
    if (session.lastSeenAt.getTime() + TOUCH_MS <= now) {
      await this.prisma.session.updateMany({ where: { idHash: session.idHash, endedAt: null }, data: { lastSeenAt: new Date(now) } });
    }
    return callerOf(session.operator, session, now);
  }

  async end(value: string): Promise<void> {
    await this.prisma.session.updateMany({ where: { idHash: hashOf(value), endedAt: null }, data: { endedAt: new Date(this.clock.now()) } });
  }

  /** Ends every session of an operator as part of a change. */
  async endAll(tx: Tx, operatorId: string): Promise<void> {
    await tx.session.updateMany({ where: { operatorId, endedAt: null }, data: { endedAt: new Date(this.clock.now()) } });
  }
}

function callerOf(operator: OperatorRow, session: SessionRow, nowMs: number): Caller {
  const role = operatorRole.parse(operator.role);
  const idleEnd = Math.min(nowMs + IDLE_MS, session.expiresAt.getTime());
  return {
    kind: 'operator', id: operator.id, name: operator.name, email: operator.email, role,
    rights: new Set(ROLE_RIGHTS[role]), boundTenant: null,
    session: { idHash: session.idHash, idleExpiresAt: new Date(idleEnd), expiresAt: session.expiresAt },
  };
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
