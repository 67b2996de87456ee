import { GUARD_MUTATIONS } from './guard.mjs';
import { LUA_MUTATIONS } from './lua.mjs';
import { MODEL_MUTATIONS } from './models.mjs';
import { POLICY_MUTATIONS } from './policy.mjs';
import { USAGE_MUTATIONS } from './usage.mjs';

export const MUTATIONS = [...LUA_MUTATIONS, ...MODEL_MUTATIONS, ...GUARD_MUTATIONS, ...POLICY_MUTATIONS, ...USAGE_MUTATIONS];

/** How often a mutation's text is in a file. */
export const occurrences = (text, find) => text.split(find).length - 1;
