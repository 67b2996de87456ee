import type { PrismaService } from './prisma.service';

/**
 * Counts one attempt if the window has room, in one statement, so that parallel attempts get exactly the limit.
 * @returns false when the limit is reached; nothing is counted then
 */
export async function addSignInAttempt(prisma: PrismaService, key: string, windowStart: Date, limit: number): Promise<boolean> {
  const counted = await prisma.$executeRaw`
    INSERT INTO sign_in_attempts AS attempts (key, window_start, count) VALUES (${key}, ${windowStart}, 1)
    ON CONFLICT (key, window_start) DO UPDATE SET count = attempts.count + 1 WHERE attempts.count < ${limit}`;
  return counted === 1;
}

export async function refundSignInAttempt(prisma: PrismaService, key: string, windowStart: Date): Promise<void> {
  await prisma.$executeRaw`UPDATE sign_in_attempts SET count = GREATEST(count - 1, 0) WHERE key = ${key} AND window_start = ${windowStart}`;
}
