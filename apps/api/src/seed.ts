import 'reflect-metadata';
import { ChangesService } from './audit/changes.service';
import { ConfigError, readConfig } from './config/app-config';
import { Clock } from './config/clock';
import { PrismaService } from './database/prisma.service';
import { Seeder } from './seed/seeder';

const prisma = new PrismaService(readConfigOrExit());
const clock = new Clock();
const seeder = new Seeder(prisma, new ChangesService(prisma, clock, null), clock);
const withDemo = process.env['QUOTAPLANE_DEMO'] !== '0';
try {
  // A second seed at the same moment takes the first one's names; then everything is there and nothing is left to do.
  const made = await seeder.run({ withDemo }).catch(() => seeder.run({ withDemo }));
  console.log(made === 0 ? 'The seed found everything in place' : `The seed made ${made} changes`);
} catch (error) {
  console.error(`The seed failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await prisma.$disconnect();
}

function readConfigOrExit() {
  try {
    return readConfig(process.env);
  } catch (error) {
    console.error(error instanceof ConfigError ? error.message : error);
    process.exit(1);
  }
}
