import { checkedSearch, oneOf } from '../../../search/checked-search';

export const OFFENDER_WINDOWS = [1, 15, 60] as const;
export const offendersSearch = checkedSearch({ minutes: oneOf(OFFENDER_WINDOWS) });
