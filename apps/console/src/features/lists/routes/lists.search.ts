import { LIST_ENTRY_STATES } from '../../../api/contract.facts';
import { checkedSearch, maybeText, oneOf, together } from '../../../search/checked-search';
import { LIST_NAMES } from '../components/listed';

export const LIST_VIEWS = [...LIST_ENTRY_STATES, 'all'] as const;

/** Which list and what of it, as it stands in the URL; nothing there means penalties that run. */
export const listsSearch = checkedSearch({ list: oneOf(LIST_NAMES), state: oneOf(LIST_VIEWS) });

/** `?penalise=`: whom the penalty form is open for, over any page. */
export const penalise = together({ tenant: maybeText(63), scope: oneOf(['tenant', 'key', 'user', 'ip']), id: maybeText(200) });
