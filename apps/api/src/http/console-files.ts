import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from './caller';
import { consolePolicy } from './security-headers';

const NONCE_PLACE = /(<meta name="csp-nonce" content=")("\s*\/?>)/;
/** Vite puts a content hash into every name under assets/, so these never change. */
const HASHED = /^assets\//;

/**
 * Serves the built console: its files by name, and index.html for every other page a browser asks for, so that a deep link works.
 * The pages of the API (`/v1`, `/health`) never fall through to it. Without a built console every such path is a 404.
 */
export async function serveConsole(instance: FastifyInstance, folder: string): Promise<void> {
  const files = listFiles(folder);
  const indexHtml = files.has('index.html') ? readFileSync(join(folder, 'index.html'), 'utf8') : undefined;
  const { default: fastifyStatic } = await import('@fastify/static');
  // serve: false decorates replies with sendFile only; the listing above decides which names exist. The build puts .br and .gz beside them.
  await instance.register(fastifyStatic, { root: folder, serve: false, cacheControl: false, preCompressed: true });

  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = (request.url.split('?')[0] ?? '').slice(1);
    if (path !== 'index.html' && files.has(path)) {
      return reply.header('Cache-Control', HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache').sendFile(path);
    }
    const isPage = request.headers.accept?.includes('text/html') === true && !/^(v1|health|metrics|openapi\.json)(\/|$)/.test(path) && !HASHED.test(path);
    if (!isPage || indexHtml === undefined) throw notFound();
    const nonce = randomBytes(16).toString('base64');
    return reply
      .header('Content-Security-Policy', consolePolicy(nonce))
      .header('Cache-Control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(indexHtml.replace(NONCE_PLACE, `$1${nonce}$2`));
  };
  instance.get('/', answer);
  instance.get('/*', answer);
}

function listFiles(folder: string): ReadonlySet<string> {
  if (!existsSync(folder)) return new Set();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
  return new Set(names.map((name) => relative(folder, join(folder, name)).split(sep).join('/')));
}
