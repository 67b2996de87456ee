import { OVERRIDE_STATES, SLUG_PATTERN, SUBJECT_PATTERN } from '../../../api/contract.facts';
import { checkedSearch, matching, oneOf } from '../../../search/checked-search';

export const OVERRIDE_VIEWS = ['active', ...OVERRIDE_STATES.filter((state) => state !== 'active'), 'all'] as const;

/** Which overrides are listed, as it stands in the URL; nothing there means those in force. */
export const overridesSearch = checkedSearch({
  state: oneOf(OVERRIDE_VIEWS),
  tenant: matching(SLUG_PATTERN),
  subject: matching(SUBJECT_PATTERN, 110),
});
