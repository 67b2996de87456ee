import type { ExecutionContext } from '@nestjs/common';
import { Answer, type HttpAnswer } from '../http/answer';
import type { CallContext } from './call-context';
import { recordQuotaExtension } from './graphql-extensions';
import { heldAnswer } from './held-calls';
import { requestView, type CarrierRequest } from './request-view';

/** What drivers put on their context; none of it is certain. */
interface DriverContext {
  readonly req?: CarrierRequest & { readonly res?: unknown };
  readonly request?: CarrierRequest;
  readonly reply?: { readonly request?: CarrierRequest };
  readonly extra?: { readonly request?: CarrierRequest };
  readonly res?: unknown;
  readonly response?: unknown;
}
interface ResolveInfo {
  readonly fieldName: string;
  readonly parentType: { readonly name: string };
  readonly operation: { readonly operation: string };
  readonly path: FieldPath;
}
interface FieldPath {
  readonly key: string | number;
  readonly prev?: FieldPath | undefined;
}

/**
 * Fields of a GraphQL operation, each a call of its own: an operation cannot get ten for the price of one. Queries are GET, mutations POST; the route is
 * `Query.search`; arguments are the body. Figures go to `extensions`, and to the response's fields where the context has a response.
 */
export const graphqlContext: CallContext = {
  requestOf: (context) => {
    const [, args, driver, info] = argsOf(context);
    const method = info.operation.operation === 'mutation' ? 'POST' : 'GET';
    return requestView(carrierOf(driver), { method, route: `${info.parentType.name}.${info.fieldName}`, body: args });
  },
  tokenOf: (context) => context.getArgs(),
  answerOf: (context) => {
    const [, , driver, info] = argsOf(context);
    const response = responseOf(driver);
    return {
      ...heldAnswer(context.getArgs()),
      set: (fields) => {
        recordQuotaExtension(driver, pathOf(info.path), fields);
        // One response for all fields of an operation: it shows the one decided last.
        if (response) new Answer(response).set(fields);
      },
    };
  },
};

type ResolverArgs = readonly [root: unknown, args: unknown, driver: DriverContext | undefined, info: ResolveInfo];
const argsOf = (context: ExecutionContext): ResolverArgs => context.getArgs<[unknown, unknown, DriverContext | undefined, ResolveInfo]>();

function carrierOf(driver: DriverContext | undefined): CarrierRequest | undefined {
  return driver?.req ?? driver?.request ?? driver?.reply?.request ?? driver?.extra?.request;
}

function responseOf(driver: DriverContext | undefined): HttpAnswer | undefined {
  return [driver?.res, driver?.response, driver?.reply, driver?.req?.res].find(isHttpAnswer);
}

function isHttpAnswer(value: unknown): value is HttpAnswer {
  if (typeof value !== 'object' || value === null) return false;
  const raw: unknown = 'raw' in value ? value.raw : value;
  return typeof raw === 'object' && raw !== null && 'setHeader' in raw && 'removeHeader' in raw;
}

function pathOf(path: FieldPath): string {
  return path.prev ? `${pathOf(path.prev)}.${path.key}` : String(path.key);
}
