import { CLOUD_EVENT, CLOUD_EVENT_BATCH, DomainError } from '@quotaplane/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** How a body holds what it carries: plain JSON of ours, or one of the three content modes of the CloudEvents HTTP binding. */
export type ContentMode = 'plain' | 'structured' | 'batched' | 'binary';

type Headers = FastifyRequest['headers'];
type Done = (error: Error | null, body?: unknown) => void;

/** @see CloudEvents 1.0.2, HTTP protocol binding, 3: the media type tells structured and batched mode; JSON with the attributes in headers is binary. */
export function contentModeOf(headers: Headers): ContentMode {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  const mediaType = type.trim().toLowerCase();
  if (mediaType === CLOUD_EVENT) return 'structured';
  if (mediaType === CLOUD_EVENT_BATCH) return 'batched';
  return headers['ce-specversion'] === undefined ? 'plain' : 'binary';
}

/**
 * Lets the routes that name these media types take CloudEvents; any other refuses them with 415 as before. One in binary mode is put together,
 * so that whoever reads the body, the Idempotency-Key's hash too, sees the whole event.
 * @param parse parses JSON text, or hands on the refusal
 */
export function acceptCloudEvents(instance: FastifyInstance, parse: (request: FastifyRequest, text: string, done: Done) => void): void {
  instance.addContentTypeParser([CLOUD_EVENT, CLOUD_EVENT_BATCH], { parseAs: 'string' }, (request, body, done) => {
    if (takesCloudEvents(request)) parse(request, String(body), done);
    else done(new DomainError('unsupported_media_type', 'The body must be application/json'));
  });
  instance.addHook('preValidation', (request, _reply, done) => {
    if (takesCloudEvents(request) && contentModeOf(request.headers) === 'binary') request.body = { ...attributesOf(request.headers), data: request.body };
    done();
  });
}

function takesCloudEvents(request: FastifyRequest): boolean {
  const { bodyTypes = [] } = request.routeOptions.config as { readonly bodyTypes?: readonly string[] };
  return bodyTypes.includes(CLOUD_EVENT);
}

/** @throws {DomainError} malformed */
function attributesOf(headers: Headers): Record<string, string> {
  const named = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return Object.fromEntries(named.map(([name, value]) => [name.slice('ce-'.length), textOf(name, String(value))]));
}

/** Binding, 3.1.3.2: a quoted string is unescaped, then one round of percent-decoding. */
function textOf(name: string, value: string): string {
  const unquoted = /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value;
  try {
    return decodeURIComponent(unquoted);
  } catch (error) {
    throw new DomainError('malformed', `The header ${name} is not percent-encoded UTF-8`, {}, { cause: error });
  }
}
