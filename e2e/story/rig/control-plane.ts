import { randomBytes } from 'node:crypto';
import type { ApiKey, ChangeReceipts, Override, Tenant, TenantPolicy, Tier, TierContent, Token, UsageItem } from '@quotaplane/contracts';
import { call, headerOf, type Answer } from './http-call';
import { until } from './patience';

type Changed<T> = T & { readonly changeId: string };
type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Reply<T> {
  readonly status: number;
  readonly etag: string;
  readonly body: T;
  readonly answer: Answer;
}

/** The control plane answered something else than was asked for; the message is the whole answer. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The REST API as a program with one token uses it, or the console of an operator who is signed in. */
export class ControlPlane {
  private readonly credentials: Readonly<Record<string, string>>;

  /** @param credentials a token, or the headers of a session */
  constructor(readonly url: string, credentials: string | Readonly<Record<string, string>>) {
    this.credentials = typeof credentials === 'string' ? { authorization: `Bearer ${credentials}` } : credentials;
  }

  /** Signs an operator in, as the console does. */
  static async signedIn(url: string, email: string, password: string): Promise<ControlPlane> {
    const answer = await call(`${url}/v1/auth/sign-in`, { method: 'POST', body: { email, password } });
    const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0];
    if (answer.status !== 200 || cookie === undefined) throw new RefusedError(`sign-in: ${answer.status} ${answer.body}`);
    return new ControlPlane(url, { cookie, 'x-quotaplane-console': '1' });
  }

  /** The same API with another token. */
  as(token: string): ControlPlane {
    return new ControlPlane(this.url, token);
  }

  /** Whatever the answer is. */
  async try<T = unknown>(method: Verb, path: string, { body, ifMatch }: { body?: unknown; ifMatch?: string } = {}): Promise<Reply<T>> {
    const headers = { ...this.credentials, ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) };
    const answer = await call(`${this.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    // The one cast of this file: the shapes are the contract's, and what is asserted of them is asserted by the specs.
    return { status: answer.status, etag: headerOf(answer, 'ETag'), body: (answer.body === '' ? undefined : JSON.parse(answer.body)) as T, answer };
  }

  /** @throws {RefusedError} the status is not 2xx */
  async ask<T>(method: Verb, path: string, options: { body?: unknown; ifMatch?: string } = {}): Promise<Reply<T>> {
    const reply = await this.try<T>(method, path, options);
    if (reply.status < 200 || reply.status > 299) throw new RefusedError(`${method} ${path}: ${reply.status} ${reply.answer.body}`);
    return reply;
  }

  async get<T>(path: string): Promise<T> {
    return (await this.ask<T>('GET', path)).body;
  }

  async post<T>(path: string, body?: unknown): Promise<Changed<T>> {
    return (await this.ask<Changed<T>>('POST', path, { body: body ?? {} })).body;
  }

  /** A published tier of that content under a fresh slug. */
  async tier(name: string, content: Partial<TierContent>): Promise<string> {
    const slug = freshSlug(name);
    await this.post<Tier>('/v1/tiers', { slug, name: `Story ${name}` });
    const draft = await this.ask('GET', `/v1/tiers/${slug}/draft`);
    await this.ask('PUT', `/v1/tiers/${slug}/draft`, { ifMatch: draft.etag, body: { limits: [], concurrency: null, quotas: [], ...content } });
    await this.post(`/v1/tiers/${slug}/publish`);
    return slug;
  }

  /** A fresh tenant with one key that every node knows. */
  async tenant(name: string, tier: string, settings: Partial<Pick<Tenant, 'timezone' | 'anchorDay'>> = {}): Promise<{ slug: string; key: string }> {
    const slug = freshSlug(name);
    await this.post<Tenant>('/v1/tenants', { slug, name: `Story ${name}`, tier, ...settings });
    const created = await this.post<ApiKey & { secret: string }>(`/v1/tenants/${slug}/keys`, { name: 'story' });
    await this.untilLive(created.changeId);
    return { slug, key: created.secret };
  }

  /** Waits until the worker has published a change. */
  async untilPublished(changeId: string, limitMs = 10_000): Promise<ChangeReceipts> {
    return until(`the publishing of change ${changeId}`, limitMs, async () => {
      const receipts = await this.get<ChangeReceipts>(`/v1/changes/${changeId}`);
      return receipts.state === 'published' && receipts;
    }, 10);
  }

  /** Waits until every live node has given its receipt. */
  async untilLive(changeId: string, limitMs = 10_000): Promise<ChangeReceipts> {
    return until(`the receipts of change ${changeId}`, limitMs, async () => {
      const receipts = await this.get<ChangeReceipts>(`/v1/changes/${changeId}`);
      return receipts.state === 'published' && receipts.nodes.total > 0 && receipts.nodes.live === receipts.nodes.total && receipts;
    }, 10);
  }

  raise(tenant: string, set: Override['set'], more: { until?: string; from?: string; ticket?: string; reason?: string; mode?: Override['mode'] } = {}): Promise<Changed<Override>> {
    return this.post<Override>('/v1/overrides', { tenant, set, reason: 'launch week, agreed with sales', ...more });
  }

  policyOf(tenant: string): Promise<TenantPolicy> {
    return this.get<TenantPolicy>(`/v1/tenants/${tenant}/policy`);
  }

  /** Secret of a fresh token of the whole platform with these scopes only. */
  async tokenFor(scopes: readonly string[], binding: Token['binding'] = { kind: 'platform' }): Promise<string> {
    return (await this.post<Token & { secret: string }>('/v1/tokens', { name: freshSlug('token'), scopes, binding })).secret;
  }

  /** The running period of one tenant's meter; undefined while nothing is counted. */
  async usageOf(tenant: string, meter = 'requests'): Promise<UsageItem | undefined> {
    const { items } = await this.get<{ items: UsageItem[] }>(`/v1/usage?period=current&tenant=${tenant}`);
    return items.find((item) => item.meter === meter);
  }
}

export const freshSlug = (name: string): string => `story-${name}-${randomBytes(4).toString('hex')}`;
