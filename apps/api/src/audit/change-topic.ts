/** What a change makes the worker compile and publish anew. */
export type ChangeTopic =
  | { readonly kind: 'tenant'; readonly slug: string }
  | { readonly kind: 'tier'; readonly slug: string }
  | { readonly kind: 'key'; readonly hash: string }
  | { readonly kind: 'classes' }
  | { readonly kind: 'fallback' }
  | { readonly kind: 'lists' };
