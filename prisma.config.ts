// A plain object: Prisma's own defineConfig adds nothing to it but an import, and Prisma is imported in apps/api alone.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Generating needs no database, so an unset variable is no error here.
  datasource: { url: process.env.DATABASE_URL ?? '' },
};
