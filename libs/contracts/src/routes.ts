import { billingRoutes } from './routes/billing-routes';
import { listRoutes } from './routes/list-routes';
import { operationRoutes } from './routes/operation-routes';
import { planRoutes } from './routes/plan-routes';
import { tenantRoutes } from './routes/tenant-routes';

/** Every endpoint of the control plane, by operation id. A route that is not here does not exist: controllers are bound to these. */
export const routes = { ...planRoutes, ...tenantRoutes, ...billingRoutes, ...listRoutes, ...operationRoutes } as const;
export type RouteId = keyof typeof routes;
