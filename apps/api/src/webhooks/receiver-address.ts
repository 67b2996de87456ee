import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config';
import { isPrivateAddress } from './private-addresses';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Rejects where there is none. */
export type ResolveName = (hostname: string) => Promise<readonly ResolvedAddress[]>;
export const RESOLVE_NAME = Symbol('RESOLVE_NAME');

export const resolveBySystem: ResolveName = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

/** A receiver that deliveries must not go to; the message is for its operator. */
export class RefusedReceiverError extends Error {
  override readonly name = 'RefusedReceiverError';
}

/**
 * Says where a delivery may go. Names are resolved here, and the connection goes to the very addresses that were judged: a name that is resolved
 * twice can answer differently (DNS rebinding).
 */
@Injectable()
export class ReceiverAddress {
  constructor(@Inject(AppConfig) private readonly config: AppConfig, @Inject(RESOLVE_NAME) private readonly resolve: ResolveName) {}

  /**
   * @returns the addresses to connect to
   * @throws {RefusedReceiverError} the URL or any of its addresses is refused, or its name has none
   */
  async judge(url: URL): Promise<readonly ResolvedAddress[]> {
    this.refuseForm(url);
    // URL has brought every spelling of an IPv4 address (hex, octal, one number) into its dotted form.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const literal = isIP(host);
    const addresses = literal === 0 ? await this.resolved(host) : [{ address: host, family: literal === 6 ? 6 : 4 } as const];
    const refused = this.config.allowsPrivateWebhooks ? undefined : addresses.find(({ address }) => isPrivateAddress(address));
    if (refused) throw new RefusedReceiverError(`leads to ${refused.address}, which is not a public address`);
    return addresses;
  }

  /** What can be said of a URL without the network. @throws {RefusedReceiverError} */
  refuseForm(url: URL): void {
    if (url.username !== '' || url.password !== '') throw new RefusedReceiverError('must not contain a user or a password');
    if (url.protocol !== 'https:' && !(this.config.allowsPrivateWebhooks && url.protocol === 'http:')) throw new RefusedReceiverError('must be an https URL');
  }

  private async resolved(host: string): Promise<readonly ResolvedAddress[]> {
    const addresses = await this.resolve(host).catch(() => []);
    if (addresses.length === 0) throw new RefusedReceiverError('has a name that does not resolve to an address');
    return addresses;
  }
}
