import { redisKeys, type Policy, type Segment } from '@quotaplane/contracts';
import type { TenantPublication } from './policy-publisher';

/** Keys and arguments of `publish-policies`. A policy's text is its beginning, which names the tenant, and a body: equal bodies are sent once. */
export function policiesCall(publications: readonly TenantPublication[]): { readonly keys: string[]; readonly args: (string | number)[] } {
  const bodies = new Map<readonly Segment[], number>();
  const texts: string[] = [];
  const own: (string | number)[] = [];
  for (const { policy, generation, subjects } of publications) {
    let body = bodies.get(policy.segments);
    if (body === undefined) {
      body = texts.push(bodyOf(policy.segments));
      bodies.set(policy.segments, body);
    }
    own.push(policy.revision, generation, beginningOf(policy), body, subjects !== undefined && subjects.size > 0 ? '1' : '');
  }
  const keys = publications.flatMap(({ policy: { tenant } }) => [redisKeys.head(tenant), redisKeys.policy(tenant), redisKeys.subjects(tenant)]);
  return { keys, args: [texts.length, ...texts, ...own] };
}

const known = new WeakMap<readonly Segment[], string>();

/** Of segments that many tenants share the text is made once. */
function bodyOf(segments: readonly Segment[]): string {
  let text = known.get(segments);
  if (text === undefined) {
    text = `,"segments":${JSON.stringify(segments)}}`;
    known.set(segments, text);
  }
  return text;
}

function beginningOf({ segments: _, ...rest }: Policy): string {
  return JSON.stringify(rest).slice(0, -1);
}
