import type { ArgumentsHost } from '@nestjs/common';
import type { CallContext } from './call-context';
import { heldAnswer } from './held-calls';
import { requestView, type CarrierRequest } from './request-view';

/** A client of Socket.IO, or of `ws`. */
interface SocketClient {
  /** The request that opened the connection. */
  readonly request?: CarrierRequest;
  readonly upgradeReq?: CarrierRequest;
  readonly _socket?: { readonly remoteAddress?: string };
  readonly readyState?: unknown;
  emit?(event: string, payload: unknown): unknown;
  send?(text: string): unknown;
}

/**
 * Events of a WebSocket connection; headers and address are those of the request that opened it, the payload is the body, the route is
 * `ChatGateway.say`, the method `WS`. A denial goes to the event's ack, else to an `exception` event.
 */
export const wsContext: CallContext = {
  requestOf: (context) => {
    const ws = context.switchToWs();
    const client = ws.getClient<SocketClient>();
    const opening = client.request ?? client.upgradeReq;
    return requestView(opening, {
      method: 'WS',
      route: `${context.getClass().name}.${context.getHandler().name}`,
      body: ws.getData<unknown>(),
      ...(opening ? {} : { socket: { remoteAddress: client._socket?.remoteAddress } }),
    });
  },
  tokenOf: (context) => context.getArgs(),
  answerOf: (context) => heldAnswer(context.getArgs()),
};

/** Tells a client what became of its event: in the ack it asked for, else as an `exception` event, as Nest's own errors. */
export function sendException(host: ArgumentsHost, payload: object): void {
  const ack: unknown = host.getArgByIndex(2);
  if (typeof ack === 'function') {
    (ack as (answer: object) => void)(payload);
    return;
  }
  const client = host.switchToWs().getClient<SocketClient>();
  // `ws` clients have an `emit` too, but it tells nobody outside of this process.
  if (typeof client.readyState === 'number') client.send?.(JSON.stringify({ event: 'exception', data: payload }));
  else client.emit?.('exception', payload);
}
