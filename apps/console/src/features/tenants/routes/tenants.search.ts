import { TENANT_ORDERS, TENANT_STATUSES } from '../../../api/contract.facts';
import { checkedSearch, maybeText, oneOf, type SearchOf } from '../../../search/checked-search';

/** Filters of the tenant list as they stand in the URL; what does not fit is dropped, not refused. */
export const tenantsSearch = checkedSearch({ q: maybeText(100), tier: maybeText(63), status: oneOf(TENANT_STATUSES), sort: oneOf(TENANT_ORDERS) });
export type TenantsSearch = SearchOf<typeof tenantsSearch>;
