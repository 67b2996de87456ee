import { DomainError, PLATFORM_ONLY_AREAS, routes, type RouteContract } from '@quotaplane/contracts';
import type { ValidatedInput } from '../http/api-request';
import { notFound, type Caller } from '../http/caller';

const AREAS: readonly string[] = PLATFORM_ONLY_AREAS;

/** Routes that name no tenant and whose service narrows what it reads to `caller.boundTenant`. Any other is refused to a bound token. */
const NARROWED_BY_SERVICE: ReadonlySet<RouteContract> = new Set<RouteContract>([
  routes.tenantsList, routes.statementsGet, routes.offendersList,
  routes.overridesGet, routes.overridesPatch, routes.overridesDelete, routes.overridesRevert,
  routes.penaltiesGet, routes.penaltiesDelete, routes.usageRecordsPost,
]);

/**
 * Applies a token's tenant binding: the one place. A route names its tenant in `tenantParam`; another tenant is 404, word for word
 * the same as a missing one. A list without the member is narrowed to the bound tenant.
 * @returns the input to go on with
 * @throws {DomainError} not_found for another tenant, forbidden for what belongs to the platform
 */
export function applyBinding(contract: RouteContract, input: ValidatedInput, caller: Caller): ValidatedInput {
  const { boundTenant } = caller;
  if (boundTenant === null || contract.access === 'signed-in' || contract.access === 'public') return input;
  const [area] = contract.access.split(':');
  if (area === undefined || AREAS.includes(area)) throw platformOnly();
  if (contract.tenantParam === undefined) {
    if (NARROWED_BY_SERVICE.has(contract)) return input;
    throw platformOnly();
  }
  const named = [input.params, input.query, input.body].map((part) => memberOf(part, contract.tenantParam)).find((value) => value !== undefined);
  if (named === undefined && contract.query && contract.tenantParam in contract.query.shape) {
    return { ...input, query: { ...Object(input.query), [contract.tenantParam]: boundTenant } };
  }
  if (named !== boundTenant) throw notFound();
  return input;
}

function memberOf(part: unknown, name: string | undefined): unknown {
  return typeof part === 'object' && part !== null && name !== undefined ? Reflect.get(part, name) : undefined;
}

function platformOnly(): DomainError {
  return new DomainError('forbidden', 'A token bound to one tenant cannot do this');
}
