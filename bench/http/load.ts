import { connect, type Socket } from 'node:net';
import { quantile } from './figures';

export interface Load {
  readonly port: number;
  /** Whole requests as they go over the wire; each connection takes the next one. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  /** Requests are sent for so long; what is under way then is still awaited. */
  readonly forMs: number;
  /** Or until so many were sent, whichever comes first. */
  readonly atMost?: number;
}

export interface LoadFigures {
  readonly perSecond: number;
  /** Answers by status. */
  readonly answers: ReadonlyMap<number, number>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** One of the last answers, as it came. */
  readonly sample: string;
}

/** The server broke the connection, or answered in a way that this client does not read. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;
const BUFFER_BYTES = 16_384;
/** Coprime to any number of requests in use, so that all of them come up and no two in a row are neighbours. */
const STEP = 7_919;

/**
 * Sends requests over kept connections, one at a time on each. Far leaner than a client that a benchmark usually takes (3 us a request): on two cores the
 * client competes with what it measures.
 */
export async function load(job: Load): Promise<LoadFigures> {
  const run = new Run(job);
  await Promise.all(Array.from({ length: job.connections }, () => run.connection()));
  return run.figures();
}

class Run {
  private readonly answers = new Map<number, number>();
  private readonly tookMs: number[] = [];
  private readonly startedAtMs = performance.now();
  private sent = 0;
  private sample = '';

  constructor(private readonly job: Load) {}

  connection(): Promise<void> {
    return new Promise((resolve, reject) => {
      let rest = '';
      let sentAtMs = 0;
      const send = (): void => {
        const request = this.next();
        if (request === undefined) {
          socket.destroy();
          resolve();
          return;
        }
        sentAtMs = performance.now();
        socket.write(request);
      };
      const receive = (text: string): void => {
        const answer = rest + text;
        const headEnd = answer.indexOf(HEAD_END);
        const length = headEnd < 0 ? undefined : LENGTH.exec(answer)?.[1];
        if (headEnd >= 0 && length === undefined) return reject(new LoadError(`an answer without a length: ${answer.slice(0, 200)}`));
        const isWhole = length !== undefined && answer.length >= headEnd + HEAD_END.length + Number(length);
        rest = isWhole ? '' : answer;
        if (!isWhole) return;
        this.heard(answer, performance.now() - sentAtMs);
        send();
      };
      const socket: Socket = connect({
        host: '127.0.0.1', port: this.job.port, noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(BUFFER_BYTES),
          callback: (bytes, buffer) => {
            receive(Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1'));
            return true;
          },
        },
      });
      socket.once('connect', send);
      socket.once('error', reject);
      socket.once('end', () => reject(new LoadError('the server closed a connection')));
    });
  }

  figures(): LoadFigures {
    const seconds = (performance.now() - this.startedAtMs) / 1000;
    const sorted = Float64Array.from(this.tookMs).sort();
    return { perSecond: sorted.length / seconds, answers: this.answers, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), sample: this.sample };
  }

  private next(): Buffer | undefined {
    const { requests, forMs, atMost = Number.POSITIVE_INFINITY } = this.job;
    if (this.sent >= atMost || performance.now() - this.startedAtMs >= forMs) return undefined;
    this.sent += 1;
    return requests[(this.sent * STEP) % requests.length];
  }

  private heard(answer: string, tookMs: number): void {
    // "HTTP/1.1 200 OK"
    const status = Number(answer.slice(9, 12));
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    this.tookMs.push(tookMs);
    this.sample = answer;
  }
}
