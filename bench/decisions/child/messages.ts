import type { Scenario } from '../scenario';
import type { Load, Slice } from './load';

/** What the parent asks of a contender's process. One at a time. */
export type Order =
  | ({ readonly kind: 'load'; readonly scenario: Scenario } & Load)
  | { readonly kind: 'touch'; readonly scenario: Scenario; readonly subjects: number }
  | { readonly kind: 'burst'; readonly scenario: Scenario; readonly from: number; readonly subjects: number; readonly times: number }
  | { readonly kind: 'close' };

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'admitted'; readonly admitted: readonly number[] }
  | { readonly kind: 'fault'; readonly detail: string };
