import { DomainError, type FieldError, type RouteContract } from '@quotaplane/contracts';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ValidatedInput } from './api-request';
import { fieldErrorsOf } from './field-errors';
import { versionFromIfMatch } from './if-match';
import { sentencesFor } from './input-sentences';
import { excessiveNesting, unstorableText } from './text-check';

const NOTHING = z.strictObject({});

/**
 * Holds all that a request carries against its route's contract and names every bad field at once.
 * Pointers: the body's own, and `/path/<name>`, `/query/<name>`, `/header/<name>`.
 * @throws {DomainError} invalid (422), version_required (428), malformed (400)
 */
export function validateInput(contract: RouteContract, request: FastifyRequest): ValidatedInput {
  const errors: FieldError[] = [];
  const read = (schema: z.ZodType, value: unknown, base: string, check: typeof unstorableText = unstorableText): unknown => {
    const faults = check(value, base);
    const parsed = faults.length === 0 ? schema.safeParse(value, { error: sentencesFor(schema) }) : undefined;
    errors.push(...faults, ...(parsed?.error ? fieldErrorsOf(parsed.error, base) : []));
    return parsed?.data;
  };
  // Fastify's parameter and query objects have no prototype and zod takes them as they are.
  const params = contract.params ? read(contract.params, request.params, '/path') : undefined;
  const query = read(contract.query ?? NOTHING, request.query ?? {}, '/query');
  // No body and an empty one mean the same, so that every missing field is named.
  const body = read(contract.body ?? NOTHING, request.body === undefined ? {} : request.body, '', contract.judgesItems ? excessiveNesting : unstorableText);
  if (errors.length > 0) throw new DomainError('invalid', `${errors.length} ${errors.length === 1 ? 'field is' : 'fields are'} invalid`, { errors });
  return {
    params,
    query: contract.query ? query : undefined,
    body: contract.body ? body : undefined,
    ifVersion: contract.ifMatch ? versionFromIfMatch(request.headers['if-match']) : undefined,
  };
}
