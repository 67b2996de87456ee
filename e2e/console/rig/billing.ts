import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Quota, Tenant, TierContent } from '@quotaplane/contracts';
import type { ControlPlane } from '../../story/rig/control-plane';

/** A limit that no story reaches, so that only the quota counts. */
const ROOMY: TierContent['limits'] = [{ name: 'per-minute', algorithm: 'token-bucket', scope: 'tenant', limit: 60_000, windowMs: 60_000, mode: 'enforce' }];

/** A published tier with this quota of the meter `requests`. */
export const meteredTier = (control: ControlPlane, name: string, quota: Partial<Quota>): Promise<string> =>
  control.tier(name, { limits: ROOMY, quotas: [{ meter: 'requests', allowance: 1000, overage: 'bill', alertAt: [50, 80, 100], ...quota }] });

/** Units that a node which is gone had admitted in a period. */
export const journal = (control: ControlPlane, tenant: string, period: string, counts: { admitted: number; refunded?: number }): Promise<unknown> =>
  control.post('/v1/journals', {
    version: 1, incarnation: randomUUID(), service: 'story', sequence: 1, at: new Date().toISOString(), closed: true,
    counts: [{ tenant, meter: 'requests', period, part: 1, class: 'search', generation: 1, degraded: 0, degradedByHour: [], refunded: 0, ...counts }],
  });

/** Usage that no guard has seen; a correction where `units` are negative. */
export const report = (control: ControlPlane, tenant: string, units: number, at: string): Promise<unknown> =>
  control.post('/v1/usage/records', [
    { id: randomUUID(), source: 'story', tenant, meter: 'requests', units, at, ...(units < 0 ? { reason: 'Counted twice by their importer' } : {}) },
  ]);

/** Id of the running period of a tenant in UTC whose periods start on the first. */
export const thisMonth = (): string => `${new Date().toISOString().slice(0, 8)}01`;

interface Ended {
  /** For a tenant in UTC: its period rolled over today. */
  readonly settings: Pick<Tenant, 'timezone' | 'anchorDay'>;
  /** The period that ended with it, not closed yet. */
  readonly period: string;
  /** An instant in it. */
  readonly within: string;
}

/** A calendar by which a period has just ended: on whatever day the stories are told, its close is still to come. */
export function justEnded(now = new Date()): Ended {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const lastOfBefore = new Date(Date.UTC(year, month, 0));
  const start = new Date(Date.UTC(lastOfBefore.getUTCFullYear(), lastOfBefore.getUTCMonth(), Math.min(day, lastOfBefore.getUTCDate())));
  return {
    settings: { timezone: 'UTC', anchorDay: day },
    period: start.toISOString().slice(0, 10),
    within: new Date(Date.UTC(year, month, day) - 3_600_000).toISOString(),
  };
}

export interface Receiver {
  readonly url: string;
  /** Event types that came, oldest first. */
  readonly heard: readonly string[];
  /** Status of every answer from now on. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

/** Somebody's endpoint, on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const heard: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      heard.push((JSON.parse(body) as { type: string }).type);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    heard,
    answerWith: (next) => void (status = next),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
