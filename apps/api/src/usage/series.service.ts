import { Inject, Injectable } from '@nestjs/common';
import { DomainError, type RouteInput, type RouteOutput, type routes, type SeriesPoint } from '@quotaplane/contracts';
import { minuteOf, readTrafficMinute } from '@quotaplane/usage';
import type { Redis } from 'ioredis';
import { Clock } from '../config/clock';
import { PrismaService } from '../database/prisma.service';
import { REDIS } from '../database/redis';
import { notFound } from '../http/caller';

const HOUR_MS = 3_600_000;
const MAX_POINTS = 2_000;
/** Minutes that may not be folded yet, and are read from Redis too. */
const OPEN_MINUTES = 2;

interface Minute {
  readonly allowed: number;
  readonly units: number;
  readonly denied: number;
  readonly deniedByLimit: Readonly<Record<string, number>>;
}

@Injectable()
export class SeriesService {
  constructor(
    @Inject(PrismaService) private readonly prisma: PrismaService,
    @Inject(REDIS) private readonly redis: Redis,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Allowed and denied calls of one tenant over time; empty steps are there too. */
  async get({ params, query }: RouteInput<typeof routes.tenantSeriesGet>): Promise<RouteOutput<typeof routes.tenantSeriesGet>> {
    const tenant = await this.prisma.tenant.findUnique({ where: { slug: params.slug }, select: { deletedAt: true } });
    if (!tenant || tenant.deletedAt !== null) throw notFound();
    const nowMs = this.clock.now();
    const stepMs = query.step * 1000;
    const toMs = query.to ? Date.parse(query.to) : nowMs + 1;
    // Steps start at whole multiples, so that the same window drawn twice has the same points.
    const fromMs = Math.floor((query.from ? Date.parse(query.from) : toMs - HOUR_MS) / stepMs) * stepMs;
    if (fromMs >= toMs) throw invalid('/query/to', 'must be after from');
    if ((toMs - fromMs) / stepMs > MAX_POINTS) throw invalid('/query/step', `the span has more than ${MAX_POINTS} points; take a longer step`);
    const minutes = await this.minutes(params.slug, fromMs, toMs, nowMs);
    const steps = Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (): Minute[] => []);
    for (const [minuteMs, minute] of minutes) steps[Math.floor((minuteMs - fromMs) / stepMs)]?.push(minute);
    return { tenant: params.slug, stepSeconds: query.step, points: steps.map((step, index) => pointOf(fromMs + index * stepMs, step)) };
  }

  /** Folded minutes, and the newest ones as Redis has them now where that is more. */
  private async minutes(tenant: string, fromMs: number, toMs: number, nowMs: number): Promise<Map<number, Minute>> {
    const folded = await this.prisma.trafficMinute.findMany({ where: { tenant, minute: { gte: new Date(fromMs), lt: new Date(toMs) } } });
    const minutes = new Map<number, Minute>(folded.map((row) => [row.minute.getTime(), {
      allowed: Number(row.allowed), units: Number(row.units), denied: Number(row.denied), deniedByLimit: row.deniedByLimit as Record<string, number>,
    }]));
    for (let minute = minuteOf(nowMs) - OPEN_MINUTES; minute <= minuteOf(nowMs) + 1; minute += 1) {
      const minuteMs = minute * 60_000;
      if (minuteMs < fromMs || minuteMs >= toMs) continue;
      // A chart without its last minute is better than none while Redis is away.
      const live = (await readTrafficMinute(this.redis, minute).catch(() => [])).find((row) => row.tenant === tenant);
      const held = minutes.get(minuteMs);
      if (live && live.allowed + live.denied >= (held ? held.allowed + held.denied : 0)) minutes.set(minuteMs, live);
    }
    return minutes;
  }
}

const pointOf = (atMs: number, minutes: readonly Minute[]): SeriesPoint => {
  const deniedByLimit: Record<string, number> = {};
  for (const minute of minutes) for (const [limit, count] of Object.entries(minute.deniedByLimit)) deniedByLimit[limit] = (deniedByLimit[limit] ?? 0) + count;
  const sum = (of: (minute: Minute) => number): number => minutes.reduce((total, minute) => total + of(minute), 0);
  return { at: new Date(atMs).toISOString(), allowed: sum((minute) => minute.allowed), units: sum((minute) => minute.units), denied: sum((minute) => minute.denied), deniedByLimit };
};

const invalid = (pointer: string, detail: string): DomainError => new DomainError('invalid', `${pointer.slice(1)} ${detail}`, { errors: [{ pointer, detail }] });
