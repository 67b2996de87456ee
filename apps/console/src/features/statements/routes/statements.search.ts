import { MONTH_PATTERN, SLUG_PATTERN } from '../../../api/contract.facts';
import { checkedSearch, matching } from '../../../search/checked-search';

/** Filters of the list of statements as they stand in the URL; what does not fit is dropped. */
export const statementsSearch = checkedSearch({ tenant: matching(SLUG_PATTERN), period: matching(MONTH_PATTERN) });
