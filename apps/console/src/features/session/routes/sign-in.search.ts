import { checkedSearch, matching } from '../../../search/checked-search';

/** Where to go after signing in: a path of this console only, never another site. */
export const signInSearch = checkedSearch({ next: matching('^/(?![/\\\\])', 4000) });
