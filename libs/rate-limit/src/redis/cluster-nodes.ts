import type { Cluster, Redis } from 'ioredis';

/** A node this long without a word, after a call to it was given up long ago, has lost its connection. */
const SILENT_MS = 500;

/** The connections behind a cluster client. */
export class ClusterNodes {
  private check: Promise<void> | undefined;

  constructor(private readonly cluster: Cluster) {}

  /** Ends the connections of nodes that do not answer, and asks the others for the map: a node that hangs closes nothing by itself. */
  dropSilent(): void {
    this.check ??= this.dropThem().finally(() => {
      this.check = undefined;
    });
  }

  private async dropThem(): Promise<void> {
    await Promise.all(this.cluster.nodes('all').map(dropIfSilent));
    this.cluster.refreshSlotsCache();
  }
}

const dropIfSilent = async (node: Redis): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'silent'>((resolve) => {
    timer = setTimeout(() => resolve('silent'), SILENT_MS);
  });
  const answer = await Promise.race([node.ping().then(() => 'heard', () => 'gone'), silence]).finally(() => clearTimeout(timer));
  if (answer === 'silent') node.disconnect(true);
};
