import type { PrismaService } from '../database/prisma.service';
import type { demoHistory } from './demo-history';

type TrafficRows = ReturnType<typeof demoHistory>['traffic'];

/** Some thousand rows in one statement: as single parameters they would take seconds. Rows that are there stay. */
export async function insertTraffic(prisma: PrismaService, rows: TrafficRows): Promise<void> {
  const column = (of: (row: TrafficRows[number]) => string | bigint): string[] => rows.map((row) => String(of(row)));
  await prisma.$executeRaw`
    INSERT INTO traffic_minutes (tenant, minute, allowed, units, denied, denied_by_limit)
    SELECT tenant, minute::timestamptz, allowed::bigint, units::bigint, denied::bigint, denied_by_limit::jsonb
    FROM unnest(${column((row) => row.tenant)}::text[], ${column((row) => row.minute.toISOString())}::text[], ${column((row) => row.allowed)}::text[],
      ${column((row) => row.units)}::text[], ${column((row) => row.denied)}::text[], ${column((row) => JSON.stringify(row.deniedByLimit))}::text[])
      AS told(tenant, minute, allowed, units, denied, denied_by_limit)
    ON CONFLICT DO NOTHING`;
}
