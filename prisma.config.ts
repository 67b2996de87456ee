import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Generating needs no database, so an unset variable is no error here.
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
