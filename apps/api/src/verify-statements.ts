import 'reflect-metadata';
import { readConfig } from './config/app-config';
import { PrismaService } from './database/prisma.service';
import { verifyStatements } from './statements/statement-verification';

// Redis is not asked: statements are verified from Postgres alone. A setting that cannot be used is refused with one line, as at any start.
const [tenant] = process.argv.slice(2);
let prisma: PrismaService | undefined;
try {
  prisma = new PrismaService(readConfig({ ...process.env, REDIS_URL: process.env['REDIS_URL'] || 'redis://127.0.0.1:6379' }));
  const { isSound, statements, tenants, problems, tookMs } = await verifyStatements(prisma, tenant);
  for (const { tenant: owner, number, period, problem, detail } of problems) console.log(`${owner} statement ${number} (${period}) ${problem}: ${detail}`);
  console.log(`${isSound ? 'Sound' : 'NOT SOUND'}: ${statements} statements of ${tenants} tenants recomputed from the raw rows in ${tookMs} ms`);
  process.exitCode = isSound ? 0 : 1;
} catch (error) {
  console.error(`The verification failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
} finally {
  await prisma?.$disconnect();
}
