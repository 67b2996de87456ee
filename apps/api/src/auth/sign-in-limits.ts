import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@quotaplane/contracts';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { addSignInAttempt, refundSignInAttempt } from '../database/sign-in-sql';

/** Window and bounds of failed sign-ins. @see promises P22 */
export const SIGN_IN_WINDOW_MS = 15 * 60_000;
/** Of one account from one address: few, so that nobody can guess, and a stranger's tries elsewhere lock nobody out. */
export const SIGN_IN_PER_ACCOUNT_AND_ADDRESS = 10;
export const SIGN_IN_PER_ADDRESS = 50;
/** Of one account from anywhere: bounds guessing from many addresses. */
export const SIGN_IN_PER_ACCOUNT = 100;

/** A counted attempt, to be given back when it succeeds. */
export interface CountedAttempt {
  readonly keys: readonly string[];
  readonly windowStart: Date;
}

/**
 * Limits sign-in per account and address, per address and per account, counted in Postgres so that operators get in while Redis is away. An attempt is counted
 * before the password is looked at, so that parallel guesses cannot slip by, and given back when it was right.
 */
@Injectable()
export class SignInLimits {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @throws {DomainError} sign_in_limited with the seconds until the window ends */
  async count(email: string, address: string): Promise<CountedAttempt> {
    const now = this.clock.now();
    const windowStart = new Date(Math.floor(now / SIGN_IN_WINDOW_MS) * SIGN_IN_WINDOW_MS);
    // Outer blanks and letter case are one account, as they are at look-up (C039).
    const account = email.trim().toLowerCase();
    const from = addressKey(address);
    const limits = [[`both:${from} ${account}`, SIGN_IN_PER_ACCOUNT_AND_ADDRESS], [`address:${from}`, SIGN_IN_PER_ADDRESS], [`account:${account}`, SIGN_IN_PER_ACCOUNT]] as const;
    const keys: string[] = [];
    for (const [key, limit] of limits) {
      const isCounted = await addSignInAttempt(this.prisma, key, windowStart, limit);
      if (isCounted) keys.push(key);
      else {
        await this.refund({ keys, windowStart });
        const retryAfter = Math.ceil((windowStart.getTime() + SIGN_IN_WINDOW_MS - now) / 1000);
        throw new DomainError('sign_in_limited', `Too many attempts to sign in; try again in ${minutesAndSeconds(retryAfter)}`, { retryAfter });
      }
    }
    return { keys, windowStart };
  }

  async refund({ keys, windowStart }: CountedAttempt): Promise<void> {
    for (const key of keys) await refundSignInAttempt(this.prisma, key, windowStart);
  }
}

/** `4 min 40 s`, `15 min` or `40 s`. */
function minutesAndSeconds(seconds: number): string {
  const parts = [[Math.floor(seconds / 60), 'min'], [seconds % 60, 's']] as const;
  return parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** One caller owns a whole IPv6 /64; an IPv4-mapped address is IPv4. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  if (mapped?.[1]) return mapped[1];
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('%', 1)[0]?.toLowerCase().split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
