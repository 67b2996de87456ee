import { Cluster } from 'ioredis';

/**
 * A Cluster that fails a command at once while it is not ready, instead of keeping it for later. ioredis' own switch for that, `enableOfflineQueue`,
 * also fails commands for a node whose handshake is under way: after each start, move of a slot and failover, for some milliseconds.
 */
export class PromptCluster extends Cluster {
  override sendCommand(...call: Parameters<Cluster['sendCommand']>): unknown {
    const [command] = call;
    // The questions by which a cluster becomes ready.
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(...call);
    if (this.status === 'wait') this.connect().catch(() => undefined);
    command.reject(new NotReadyError(this.status));
    return command.promise;
  }
}

/** The cluster cannot be used now; nothing was sent. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
  constructor(status: Cluster['status']) {
    super(`The connection to the Redis Cluster is in state ${status}`);
  }
}
