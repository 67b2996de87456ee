import type { CatalogueCache } from './catalogue-cache';
import type { FeedHandler } from './change-feed';
import type { KeyIndex } from './key-index';
import type { PolicyCache } from './policy-cache';

export interface FollowedCaches {
  readonly policies: Pick<PolicyCache, 'drop' | 'dropAll'>;
  readonly keys: Pick<KeyIndex, 'drop' | 'dropAll'>;
  readonly catalogue: Pick<CatalogueCache, 'refresh'>;
  /** Called after each applied batch: the heartbeat's `beat`. */
  readonly applied?: (position: string) => void;
}

/** Routes the feed to the caches: drops what an entry names, everything after a gap. */
export function followChanges(caches: FollowedCaches): FeedHandler {
  return {
    entry(entry) {
      if (entry.topic === 'tenant') caches.policies.drop(entry.subject, entry.revision);
      else if (entry.topic === 'key') caches.keys.drop(entry.subject);
      else void caches.catalogue.refresh();
    },
    gap() {
      caches.policies.dropAll();
      caches.keys.dropAll();
      void caches.catalogue.refresh();
    },
    applied: (position) => caches.applied?.(position),
  };
}
