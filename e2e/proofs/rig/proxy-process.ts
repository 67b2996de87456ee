import { FaultProxy } from '@quotaplane/testing';
import type { ProxyOrder } from './proxies-apart';

/** The process behind `ProxiesApart`: proxies before one store, which misbehave as their parent orders. */
const [, , storeUrl = '', count = '0'] = process.argv;
const proxies = await Promise.all(Array.from({ length: Number(count) }, () => FaultProxy.start(storeUrl)));

process.on('message', ({ fault, first, isCutting }: ProxyOrder) => {
  const struck = proxies.slice(0, first);
  for (const proxy of struck) proxy.set(fault);
  if (isCutting) for (const proxy of struck) proxy.resetConnections();
  process.send?.('done');
});
process.once('disconnect', () => process.exit());
process.send?.(proxies.map(({ url }) => url));
