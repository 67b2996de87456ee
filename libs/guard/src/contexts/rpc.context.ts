import type { CallContext } from './call-context';
import { heldAnswer } from './held-calls';
import { headersOfMessage } from './message-headers';
import { requestView } from './request-view';

interface SocketContext {
  getSocketRef?(): { readonly netSocket?: { readonly remoteAddress?: string } };
}

/**
 * Messages of microservices; the payload is the body, the route is `OrdersController.create`, the method `RPC`. Headers are those of the transport where
 * it has any (gRPC, Kafka, RabbitMQ, NATS; the metadata of TCP and Redis since Nest 12). A denial is the error of the answer; answers themselves have no place for figures.
 */
export const rpcContext: CallContext = {
  requestOf: (context) => {
    const rpc = context.switchToRpc();
    const transport = rpc.getContext<unknown>();
    return requestView(undefined, {
      method: 'RPC',
      route: `${context.getClass().name}.${context.getHandler().name}`,
      body: rpc.getData<unknown>(),
      headers: headersOfMessage(transport),
      socket: { remoteAddress: addressOf(transport) },
    });
  },
  tokenOf: (context) => context.getArgs(),
  answerOf: (context) => heldAnswer(context.getArgs()),
};

function addressOf(transport: unknown): string | undefined {
  if (typeof transport !== 'object' || transport === null || !('getSocketRef' in transport)) return undefined;
  return (transport as SocketContext).getSocketRef?.().netSocket?.remoteAddress;
}
