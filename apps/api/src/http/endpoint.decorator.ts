import { applyDecorators, HttpCode, RequestMapping, RequestMethod, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { HttpVerb, RouteContract } from '@quotaplane/contracts';

/** Metadata key under which the guard, the interceptors and OpenAPI find a handler's contract. */
export const ROUTE_CONTRACT = 'quotaplane:route-contract';

const METHODS: Readonly<Record<HttpVerb, RequestMethod>> = {
  GET: RequestMethod.GET,
  POST: RequestMethod.POST,
  PUT: RequestMethod.PUT,
  PATCH: RequestMethod.PATCH,
  DELETE: RequestMethod.DELETE,
};

/**
 * Binds a handler to a route of the contract: method, path, status, who may call it, and the validation of all that it receives.
 * A controller declares no path of its own: `@Controller() class X { @Endpoint(routes.tiersGet) get(@Input() input: RouteInput<typeof routes.tiersGet>) }`.
 */
export function Endpoint(contract: RouteContract): MethodDecorator {
  return applyDecorators(
    RequestMapping({ path: contract.path.replace(/\{(\w+)\}/g, ':$1'), method: METHODS[contract.method] }),
    HttpCode(contract.status),
    SetMetadata(ROUTE_CONTRACT, contract),
    RouteConfig({ bodyLimitBytes: contract.bodyLimitBytes, bodyTypes: Object.keys(contract.bodyTypes ?? {}) }),
  );
}

/** Metadata key of handlers that belong to no contract and are open to everyone. */
export const OPEN_ROUTE = 'quotaplane:open-route';

/** Marks a handler outside the contract (health, metrics, docs) as open; the access guard refuses any other without a contract. */
export const OpenRoute = (): MethodDecorator => SetMetadata(OPEN_ROUTE, true);
