import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

export interface RestReply<Body> {
  readonly status: number;
  readonly etag: string;
  readonly body: Body;
}

export interface RestCall {
  readonly body?: unknown;
  readonly ifMatch?: string;
}

/** The REST API as a program with one token uses it. */
export class RestClient {
  constructor(readonly url: string, private readonly token: string) {}

  /** @throws {RangeError} the answer is not 2xx */
  async ask<Body>(method: string, path: string, { body, ifMatch }: RestCall = {}): Promise<RestReply<Body>> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.token}`,
      ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.url), { method, headers, agent }, (reply) => {
        let answer = '';
        reply.setEncoding('utf8');
        reply.on('data', (piece: string) => (answer += piece));
        reply.once('error', reject);
        reply.once('end', () => {
          const status = reply.statusCode ?? 0;
          if (status < 200 || status > 299) reject(new RangeError(`${method} ${path}: ${status} ${answer}`));
          else resolve({ status, etag: reply.headers.etag ?? '', body: (answer === '' ? undefined : JSON.parse(answer)) as Body });
        });
      });
      sent.once('error', reject);
      sent.end(text);
    });
  }
}
