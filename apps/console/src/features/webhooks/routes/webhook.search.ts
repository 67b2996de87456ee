import { DELIVERY_STATES, EVENT_NAMES } from '../../../api/contract.facts';
import { checkedSearch, oneOf } from '../../../search/checked-search';

/** Which deliveries are listed, as it stands in the URL; nothing there means all. */
export const webhookSearch = checkedSearch({ state: oneOf(DELIVERY_STATES), type: oneOf(EVENT_NAMES) });
