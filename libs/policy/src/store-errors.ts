/** Told of every Redis failure that a part of this room turned into a state; `where` names the part, for a metric's label. Must not throw. */
export type OnStoreError = (error: unknown, where: string) => void;

/** A publish that Redis refused or never answered. The worker's job fails and is tried again; nothing is half written. */
export class PublishError extends Error {
  override readonly name = 'PublishError';
  constructor(what: string, cause: unknown) {
    super(`Could not publish ${what}`, { cause });
  }
}

/** A policy source that no policy can be made from: no tier or no period. The caller has read the wrong rows. */
export class PolicySourceError extends Error {
  override readonly name = 'PolicySourceError';
}
