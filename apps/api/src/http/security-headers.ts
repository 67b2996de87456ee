import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** What an answer of the API may do when a browser is made to show it: nothing. The docs page may load its own style. */
const API_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * What the console may do. No inline script at all. The component library writes style elements at run time: they carry the
 * nonce of this page, so no inline exemption is needed; style attributes set by script are not inline styles to CSP.
 */
export function consolePolicy(nonce: string): string {
  return [
    "default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`, "img-src 'self' data:", "font-src 'self'",
    "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
  ].join('; ');
}

/** Headers of every answer; a handler may replace the policy by a page's own. */
export async function setSecurityHeaders(instance: FastifyInstance): Promise<void> {
  await instance.register(helmet, {
    contentSecurityPolicy: false,
    // Ignored by browsers over plain HTTP, so it is safe on loopback.
    strictTransportSecurity: { maxAge: 31_536_000 },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });
  instance.addHook('onRequest', (_, reply, done) => {
    void reply.header('Content-Security-Policy', API_POLICY);
    done();
  });
}
