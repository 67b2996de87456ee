import { checkedSearch, day, text, type SearchOf } from '../../../search/checked-search';

/** Filters of the audit log as they stand in the URL; days are whole days in the operator's zone. */
export const auditSearch = checkedSearch({ tenant: text(63), entity: text(200), actor: text(200), action: text(100), from: day, to: day });
export type AuditSearch = SearchOf<typeof auditSearch>;
