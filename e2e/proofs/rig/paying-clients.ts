import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiKey } from '@quotaplane/contracts';
import { freshSlug, type ControlPlane } from '../../story/rig/control-plane';
import { call, type Answer } from '../../story/rig/http-call';

/** A busy machine's fleet may take this long to know a tenant, ms. */
const KNOWN_WITHIN_MS = 90_000;

/** Of one tenant, as its clients know it. */
export interface Bill {
  /** Units of calls that were answered as admitted. */
  admitted: number;
  /** Units of calls that were sent and never answered: admitted or not, nobody can know. */
  unknown: number;
  /** Units of calls under way. */
  underWay: number;
  /** Calls that were answered otherwise. */
  refused: number;
}

export interface Payer {
  readonly slug: string;
  readonly key: string;
}

/** A fresh tenant of that tier with one key, known to every guard. */
export async function payerOn(control: ControlPlane, tier: string): Promise<Payer> {
  const slug = freshSlug('payer');
  await control.post('/v1/tenants', { slug, name: 'Payer', tier });
  const created = await control.post<ApiKey & { secret: string }>(`/v1/tenants/${slug}/keys`, { name: 'proof' });
  await control.untilLive(created.changeId, KNOWN_WITHIN_MS);
  return { slug, key: created.secret };
}

export interface PaidCall {
  readonly payer: Payer;
  readonly url: string;
  readonly units: number;
  readonly answer: Answer;
}

/** A server that nobody listens at, or a call that was not sent: it counts for nothing. */
const NOT_SENT = new Set(['ECONNREFUSED', 'EPIPE']);

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Clients that never stop and count what they were admitted, unit by unit: 1 for a read, as many as there are items for a bulk call. */
export class PayingClients {
  private readonly bills = new Map<string, Bill>();
  private readonly lanes: Promise<void>[];
  private isOver = false;
  private isPaused = false;

  /**
   * @param urls guards, asked for before each call
   * @param heard of every answer
   */
  constructor(
    private readonly payers: readonly Payer[], private readonly urls: () => readonly string[],
    options: { readonly lanes: number; readonly pauseMs: number; readonly heard?: (call: PaidCall) => void },
  ) {
    for (const { slug } of payers) this.bills.set(slug, { admitted: 0, unknown: 0, underWay: 0, refused: 0 });
    this.lanes = Array.from({ length: options.lanes }, (_, lane) => this.lane(lane, options.pauseMs, options.heard));
  }

  billOf(slug: string): Readonly<Bill> {
    return { admitted: 0, unknown: 0, underWay: 0, refused: 0, ...this.bills.get(slug) };
  }

  /** Holds the load; resolves when every call is answered. */
  async pause(): Promise<void> {
    this.isPaused = true;
    while ([...this.bills.values()].some(({ underWay }) => underWay > 0)) await sleep(1);
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Ends the load; resolves when every call is answered. */
  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes);
  }

  private async lane(first: number, pauseMs: number, heard: ((call: PaidCall) => void) | undefined): Promise<void> {
    for (let turn = first; !this.isOver; turn += 1) {
      const payer = this.payers[turn % this.payers.length];
      const urls = this.urls();
      const url = urls[(turn + first) % urls.length];
      if (!this.isPaused && payer && url !== undefined) await this.pay(payer, url, turn % 4 === 0 ? 1 + (turn % 7) : 1, heard);
      await sleep(pauseMs);
    }
  }

  private async pay(payer: Payer, url: string, units: number, heard: ((call: PaidCall) => void) | undefined): Promise<void> {
    const bill = this.bills.get(payer.slug);
    if (!bill) return;
    bill.underWay += units;
    try {
      const answer = units === 1 ? await call(`${url}/echo`, { key: payer.key })
        : await call(`${url}/bulk`, { method: 'POST', key: payer.key, body: { items: Array.from({ length: units }, (_, item) => item) } });
      if (answer.status === 200) bill.admitted += units;
      else bill.refused += 1;
      heard?.({ payer, url, units, answer });
    } catch (error) {
      if (!NOT_SENT.has(codeOf(error))) bill.unknown += units;
    } finally {
      bill.underWay -= units;
    }
  }
}
