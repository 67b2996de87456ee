import { DomainError } from '@quotaplane/contracts';
import { Prisma } from './generated/client';

/** Prisma's codes for a database that cannot serve now: not reachable, pool or transaction wait timed out, too many connections, deadlock. */
const UNAVAILABLE = new Set(['P1001', 'P1002', 'P1008', 'P1011', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT']);
/** SQLSTATE classes of the same: connection, insufficient resources, operator intervention; and single states for locks. */
const UNAVAILABLE_SQLSTATE = /^(08|53|57|40001|40P01|55P03|25P03)/;
const UNAVAILABLE_KINDS = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections', 'TransactionWriteConflict']);
const POOL_EXHAUSTED = /timeout exceeded when trying to connect|Connection terminated|Server has closed the connection/i;
const UNIQUE_VIOLATION = '23505';

/** The refusal that a failure of the database means to a caller; undefined where it is a fault of ours. */
export function domainErrorOf(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const codes = codesOf(error);
  if (codes.includes('P2002') || codes.includes(UNIQUE_VIOLATION)) {
    return new DomainError('conflict', 'Another resource has this name already', {}, { cause: error });
  }
  if (codes.includes('P2003')) return new DomainError('conflict', 'The resource that this one names has gone', {}, { cause: error });
  if (codes.some((code) => UNAVAILABLE.has(code) || UNAVAILABLE_KINDS.has(code) || UNAVAILABLE_SQLSTATE.test(code)) || POOL_EXHAUSTED.test(error.message)) {
    return new DomainError('store_unavailable', 'The database is busy or away; try again shortly', { retryAfter: 1 }, { cause: error });
  }
  return undefined;
}

/** Every code on the way down: Prisma's own, the adapter's kind, the SQLSTATE. */
function codesOf(error: Error): string[] {
  if (error instanceof Prisma.PrismaClientInitializationError) return ['P1001'];
  const codes: string[] = [];
  let level: unknown = error;
  for (let depth = 0; depth < 6 && isObject(level); depth += 1) {
    for (const member of [level.code, level.kind, level.originalCode]) if (typeof member === 'string') codes.push(member);
    level = level.cause ?? (isObject(level.meta) ? level.meta.driverAdapterError ?? level.meta : undefined);
  }
  return codes;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
