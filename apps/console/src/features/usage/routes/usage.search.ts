import { USAGE_MONTH_PATTERN } from '../../../api/contract.facts';
import { checkedSearch, either, matching, maybeText, oneOf } from '../../../search/checked-search';

export const usageSearch = checkedSearch({
  period: either(oneOf(['current']), matching(USAGE_MONTH_PATTERN)),
  /** Tenant whose chart is open. */
  tenant: maybeText(63),
  sort: maybeText(30),
});
