import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes } from '@quotaplane/contracts';
import { ChangesService, PLATFORM_CHAIN } from '../audit/changes.service';
import { PrismaService, type Tx } from '../database/prisma.service';
import type { Caller } from '../http/caller';
import { versionConflict } from '../http/version-conflict';
import { requireUsableTier } from '../tiers/tier-use';

type Settings = RouteOutput<typeof routes.settingsGet>;
type Patch = RouteInput<typeof routes.settingsPatch>['body'];

/** Of a platform whose settings nobody has touched yet. */
const DEFAULTS = { fallbackTier: 'anonymous', version: 1 } as const;
const ROW = { id: 1 } as const;

/** Settings of the whole platform, one row. */
@Injectable()
export class SettingsService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(ChangesService) private readonly changes: ChangesService,
  ) {}

  async get(_caller: Caller): Promise<Settings> {
    return readSettings(this.prisma);
  }

  /** @throws {DomainError} invalid for a tier that cannot be used, version_conflict */
  async patch(caller: Caller, ifVersion: number, patch: Patch): Promise<RouteOutput<typeof routes.settingsPatch>> {
    return this.changes.commit(caller, [PLATFORM_CHAIN], async (tx) => {
      await tx.settings.createMany({ data: { ...ROW, ...DEFAULTS }, skipDuplicates: true });
      const before = await readSettings(tx);
      if (patch.fallbackTier !== undefined) await requireFallback(tx, patch.fallbackTier);
      const { count } = await tx.settings.updateMany({ where: { ...ROW, version: ifVersion }, data: { ...patch, version: { increment: 1 } } });
      if (count === 0) throw versionConflict(ifVersion, before.version);
      const after = await readSettings(tx);
      return { answer: after, action: 'settings.update', entity: { type: 'settings', id: 'platform' }, topics: [{ kind: 'fallback' }], before, after };
    });
  }
}

async function readSettings(client: Tx | PrismaService): Promise<Settings> {
  const row = await client.settings.findUnique({ where: ROW });
  return row ? { fallbackTier: row.fallbackTier, version: row.version } : DEFAULTS;
}

async function requireFallback(tx: Tx, slug: string): Promise<void> {
  const detail = await requireUsableTier(tx, slug).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof DomainError) return error.message;
      throw error;
    },
  );
  if (detail !== undefined) throw new DomainError('invalid', detail, { errors: [{ pointer: '/fallbackTier', detail }] });
}
