import { createHash } from 'node:crypto';
import { DomainError, IDEMPOTENCY_KEY_HEADER, type RouteContract } from '@quotaplane/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { canonicalJson } from './canonical-json';
import { claimIdempotencyKey, releaseIdempotencyKey, type IdempotencySlot } from '../database/idempotency-sql';
import { PrismaService } from '../database/prisma.service';
import type { ApiRequest } from './api-request';
import type { IdempotencyClaim } from './request-context';

/** What to do with a request that carries a key: run it under the claim, or repeat the first answer. */
export type IdempotencyOutcome =
  | { readonly kind: 'claimed'; readonly claim: IdempotencyClaim }
  | { readonly kind: 'replay'; readonly status: number; readonly response: unknown };

/**
 * Keeps one effect per Idempotency-Key. The key is claimed before the work in a statement of its own, so that a parallel send is
 * told at once; the answer is stored by the change's own transaction, which the claim's instant fences: a claim that was taken over
 * after 60 s commits nothing any more.
 */
@Injectable()
export class IdempotencyKeys {
  constructor(@Inject(PrismaService) private readonly prisma: PrismaService) {}

  /** @throws {DomainError} idempotency_mismatch, idempotency_running, invalid */
  async begin(contract: RouteContract, request: ApiRequest, header: string, actorId: string): Promise<IdempotencyOutcome> {
    const slot = { actorId, key: keyFrom(header) };
    const requestHash = hashOf(request);
    const claimedAt = await claimIdempotencyKey(this.prisma, slot, requestHash);
    if (claimedAt) {
      return { kind: 'claimed', claim: { ...slot, claimedAt, status: contract.status, secretFields: contract.secretFields ?? [] } };
    }
    return this.replay(slot, requestHash);
  }

  /** Gives the key back after a request that changed nothing. */
  async release(claim: IdempotencyClaim): Promise<void> {
    await releaseIdempotencyKey(this.prisma, claim);
  }

  private async replay(slot: IdempotencySlot, requestHash: string): Promise<IdempotencyOutcome> {
    const held = await this.prisma.idempotencyKey.findUnique({ where: { actorId_key: slot } });
    // Released between the two statements: the first send has failed and this one may be repeated.
    if (!held) throw running();
    if (held.requestHash !== requestHash) throw new DomainError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
    if (held.status === null) throw running();
    return { kind: 'replay', status: held.status, response: held.response };
  }
}

function running(): DomainError {
  return new DomainError('idempotency_running', 'The first request with this Idempotency-Key is still running; try again shortly');
}

function keyFrom(header: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new DomainError('invalid', `${IDEMPOTENCY_KEY_HEADER} is not usable`, {
    errors: [{ pointer: `/header/${IDEMPOTENCY_KEY_HEADER}`, detail: 'must be 1 to 255 printable ASCII characters without blanks' }],
  });
}

function hashOf(request: ApiRequest): string {
  const [path] = request.url.split('?');
  return createHash('sha256').update(canonicalJson([request.method, path, request.body ?? {}])).digest('hex');
}
