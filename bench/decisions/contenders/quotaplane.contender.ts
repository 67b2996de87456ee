import { PLAIN_RULES } from '../../../libs/guard/src/handler-rules';
import type { Identity } from '../../../libs/guard/src/identity/identity';
import { CallGate } from '../../../libs/guard/src/limiter/call-gate';
import { LimiterNode } from '../../../libs/guard/src/limiter/limiter-node';
import { resolveOptions } from '../../../libs/guard/src/resolve-options';
import { SUBJECTS, tenantOf } from '../scenario';
import { ContenderError, type Ask, type Contender } from './contender';

/** What a framework hands over; nothing in it is read more than once a call. */
const REQUEST = {
  method: 'GET', url: '/', headers: {}, params: {}, query: {}, body: undefined,
  socket: { remoteAddress: '192.0.2.1' }, routeOptions: { url: '/' },
};
/** Longest there is: on a loaded machine a decision of this node's own would pass for a quick one of the store. */
const STORE_BUDGET_MS = 1_000;

/** The last words of a node that is closed without its store are as long as its journal. */
const LINE_MAX = 200;
const LOGGER = {
  warn: (line: string): void => console.warn(line.slice(0, LINE_MAX)),
  error: (line: string): void => console.error(line.slice(0, LINE_MAX)),
};

/**
 * The whole guard but for the web framework: policy, head, segment, journal, statistics, metrics, deadlines and the response fields of each call.
 * @throws {ContenderError} from a decision that is not the store's
 */
export async function quotaplane(redisUrl: string): Promise<Contender> {
  const node = new LimiterNode(resolveOptions({ redisUrl, service: 'bench', storeBudgetMs: STORE_BUDGET_MS }), LOGGER);
  await node.start();
  await node.announce();
  const gate = new CallGate(node);
  const by = (identityOf: (subject: number) => Identity): Ask => async (subject) => {
    const { decision, problem } = await gate.admit({ request: REQUEST, rules: PLAIN_RULES, identity: identityOf(subject), arrivedAtMs: performance.now() });
    if (problem !== undefined && decision?.outcome === 'denied') return false;
    if (decision?.source !== 'store') throw new ContenderError(`a decision came from ${decision?.source ?? 'nowhere'}: ${problem?.detail ?? ''}`);
    return true;
  };
  const known = (count: number, identityOf: (subject: number) => Identity): ((subject: number) => Identity) => {
    const identities = Array.from({ length: count }, (_, subject) => identityOf(subject));
    return (subject) => identities[subject] ?? identityOf(subject);
  };
  const tenant = (slug: string): Identity => ({ kind: 'tenant', tenant: slug });
  const userOf = (slug: string, subject: number): Identity => ({ kind: 'tenant', tenant: slug, userId: `user-${subject}`, keyId: `key-${subject}` });
  const hot = tenant(tenantOf.hot);
  return {
    asks: {
      many: by(known(SUBJECTS.many, (subject) => tenant(tenantOf.many(subject)))),
      hot: by(() => hot),
      layered: by(known(SUBJECTS.layered, (subject) => userOf(tenantOf.layered(subject), subject))),
      single: by(known(SUBJECTS.single, (subject) => userOf(tenantOf.single(subject), subject))),
      users: by((subject) => userOf(tenantOf.users, subject)),
      denied: by(known(SUBJECTS.denied, (subject) => userOf(tenantOf.denied, subject))),
      exact: by((subject) => tenant(tenantOf.exact(subject))),
      allowance: by((subject) => userOf(tenantOf.allowance(subject), subject)),
    },
    close: () => node.stop(),
  };
}
