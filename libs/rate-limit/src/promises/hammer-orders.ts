import type { Charge } from '../store';

/** What a node of the hammer is told to do. */
export type HammerOrder =
  | { readonly kind: 'once'; readonly calls: number; readonly charges: readonly Charge[] }
  | { readonly kind: 'for-ever'; readonly lists: readonly (readonly Charge[])[] };

export interface HammerCount {
  readonly allowed: number;
  readonly denied: number;
  /** Answers that are neither: none, on a healthy store. */
  readonly others: number;
}
