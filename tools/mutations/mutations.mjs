import { CALENDAR_MUTATIONS } from './calendar.mjs';
import { GUARD_MUTATIONS } from './guard.mjs';
import { JOB_MUTATIONS } from './jobs.mjs';
import { LEDGER_MUTATIONS } from './ledger.mjs';
import { LUA_MUTATIONS } from './lua.mjs';
import { MODEL_MUTATIONS } from './models.mjs';
import { PLAIN_MUTATIONS } from './plain.mjs';
import { POLICY_MUTATIONS } from './policy.mjs';
import { QUOTA_MUTATIONS } from './quotas.mjs';
import { RECORD_MUTATIONS } from './records.mjs';
import { USAGE_MUTATIONS } from './usage.mjs';

export const MUTATIONS = [
  ...LUA_MUTATIONS, ...PLAIN_MUTATIONS, ...MODEL_MUTATIONS, ...GUARD_MUTATIONS, ...POLICY_MUTATIONS, ...USAGE_MUTATIONS,
  ...CALENDAR_MUTATIONS, ...LEDGER_MUTATIONS, ...QUOTA_MUTATIONS, ...RECORD_MUTATIONS, ...JOB_MUTATIONS,
];

/** How often a mutation's text is in a file. */
export const occurrences = (text, find) => text.split(find).length - 1;
