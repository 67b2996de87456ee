import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type EndpointClass, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import type { ChangeTopic } from '../audit/change-topic';
import { countTiersNamingClass } from '../database/class-sql';
import { PrismaService, type Tx } from '../database/prisma.service';
import { Prisma } from '../database/rows';
import { notFound, type Caller } from '../http/caller';
import { pageOfRows, readCursor, slugCursor } from '../http/page-cursor';
import { versionConflict } from '../http/version-conflict';
import { endpointClassFrom } from './classes.mapping';

type Create = RouteInput<typeof routes.classesCreate>['body'];
type Patch = RouteInput<typeof routes.classesPatch>['body'];
type Changed = RouteOutput<typeof routes.classesPatch>;

const TOPICS: readonly ChangeTopic[] = [{ kind: 'classes' }];

/** Named groups of routes: what a call costs and what happens while the store is away. */
@Injectable()
export class ClassesService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
  ) {}

  /** By slug. */
  async list(_caller: Caller, { limit, cursor }: RouteInput<typeof routes.classesList>['query']): Promise<RouteOutput<typeof routes.classesList>> {
    const after = readCursor(cursor, slugCursor);
    const rows = await this.prisma.endpointClass.findMany({ where: after ? { slug: { gt: after[0] } } : {}, orderBy: { slug: 'asc' }, take: limit + 1 });
    return pageOfRows(rows, limit, (row) => [row.slug], endpointClassFrom);
  }

  async get(_caller: Caller, slug: string): Promise<EndpointClass> {
    return requireClass(this.prisma, slug);
  }

  /** @throws {DomainError} conflict for a slug that is taken */
  async create(caller: Caller, fields: Create): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const after = endpointClassFrom(await tx.endpointClass.create({ data: { ...columnsFrom(fields), slug: fields.slug } }));
      return { answer: after, action: 'endpoint-class.create', entity: entityOf(fields.slug), topics: TOPICS, before: null, after };
    });
  }

  /** @throws {DomainError} not_found, version_conflict */
  async patch(caller: Caller, slug: string, ifVersion: number, fields: Patch): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      const before = await requireClass(tx, slug);
      const { count } = await tx.endpointClass.updateMany({ where: { slug, version: ifVersion }, data: { ...columnsFrom(fields), version: { increment: 1 } } });
      if (count === 0) throw versionConflict(ifVersion, before.version);
      const after = await requireClass(tx, slug);
      return { answer: after, action: 'endpoint-class.update', entity: entityOf(slug), topics: TOPICS, before, after };
    });
  }

  /** @throws {DomainError} not_found, version_conflict, in_use with the number of tiers that name it in a draft or version still to be used */
  async delete(caller: Caller, slug: string, ifVersion: number): Promise<Changed> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx, { at }) => {
      const before = await requireClass(tx, slug);
      const tiers = await countTiersNamingClass(tx, slug, at);
      const { count } = await tx.endpointClass.deleteMany({ where: { slug, version: ifVersion } });
      if (count === 0) throw versionConflict(ifVersion, before.version);
      if (tiers > 0) throw new DomainError('in_use', `${tiers} ${tiers === 1 ? 'tier limits' : 'tiers limit'} the class ${slug}`, { tiers });
      return { answer: before, action: 'endpoint-class.delete', entity: entityOf(slug), topics: TOPICS, before, after: null };
    });
  }
}

const entityOf = (slug: string): { type: string; id: string } => ({ type: 'endpoint-class', id: slug });

async function requireClass(client: Tx | PrismaService, slug: string): Promise<EndpointClass> {
  const row = await client.endpointClass.findUnique({ where: { slug } });
  if (!row) throw notFound();
  return endpointClassFrom(row);
}

function columnsFrom({ cost, retry, ...fields }: Patch) {
  return {
    ...fields,
    ...(cost === undefined ? {} : { cost: BigInt(cost) }),
    ...(retry === undefined ? {} : { retry: retry ?? Prisma.DbNull }),
  };
}
