import { PassThrough } from 'node:stream';

/** What a console hears; `event` is the name in the stream. */
export interface ConsoleEvent {
  readonly event: 'change' | 'receipts' | 'denials' | 'nodes';
  readonly data: object;
}

/** A reader this far behind is cut off; it reconnects and reads the present state. */
const BUFFERED_MAX_BYTES = 1_000_000;
const RECONNECT_MS = 2_000;

/** One open stream of server-sent events. */
export class EventStream {
  readonly body = new PassThrough();

  constructor() {
    this.body.write(`retry: ${RECONNECT_MS}\n\n`);
  }

  send({ event, data }: ConsoleEvent): void {
    this.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** A comment: keeps proxies from closing a silent stream. */
  heartbeat(): void {
    this.write(': heartbeat\n\n');
  }

  end(): void {
    this.body.end();
  }

  private write(text: string): void {
    if (this.body.destroyed || this.body.writableEnded) return;
    if (this.body.writableLength > BUFFERED_MAX_BYTES) this.body.destroy();
    else this.body.write(text);
  }
}
