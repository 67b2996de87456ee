import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@quotaplane/contracts';
import { PrismaService } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { hashPassword, verifyPassword } from './password';
import { SessionsService } from './sessions.service';
import { SignInLimits } from './sign-in-limits';

/** Signs operators in. Says the same, after the same work, for an unknown account, a wrong password and a disabled one. */
@Injectable()
export class SignInService {
  /** Verified instead of a real one where the account is unknown. */
  private readonly dummyHash = hashPassword('no account has this password');

  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(SessionsService) private readonly sessions: SessionsService,
    @Inject(SignInLimits) private readonly limits: SignInLimits,
  ) {}

  /**
   * @param address the client's address
   * @param previous cookie of a session in this browser; it ends, so that an id known before sign-in is worth nothing after
   * @throws {DomainError} unauthenticated, sign_in_limited
   */
  async signIn(credentials: { email: string; password: string }, address: string, previous: string | undefined): Promise<{ value: string; caller: Caller }> {
    const email = credentials.email.trim().toLowerCase();
    const attempt = await this.limits.count(email, address);
    const operator = await this.prisma.operator.findUnique({ where: { email } });
    const isRight = await verifyPassword(credentials.password, operator?.passwordHash ?? (await this.dummyHash));
    if (!operator || !isRight || operator.disabled) throw new DomainError('unauthenticated', 'E-mail or password is wrong');
    await this.limits.refund(attempt);
    if (previous !== undefined) await this.sessions.end(previous);
    return this.sessions.open(operator);
  }
}
