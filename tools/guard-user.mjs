// The Redis user that guards connect as, from the same rules as guardAclRules() of libs/policy.
import { readFileSync } from 'node:fs';

/** @typedef {{ user: string, connection: { commands: string[] }, selectors: { keys: string[], commands: string[] }[] }} GuardAcl */

/** @type {GuardAcl} */
const acl = JSON.parse(readFileSync(new URL('../libs/policy/src/acl/guard-acl.json', import.meta.url), 'utf8'));

export const GUARD_USER = acl.user;

/**
 * A line of redis.conf that makes the user at every start of the server.
 * @param {string} password without spaces
 * @returns {string}
 */
export function guardUserLine(password) {
  const allowed = (/** @type {string[]} */ commands) => commands.map((command) => `+${command}`);
  const selectors = acl.selectors.map(({ keys, commands }) => `(${[...keys, ...allowed(commands)].join(' ')})`);
  return ['user', acl.user, 'reset', 'on', `>${password}`, ...allowed(acl.connection.commands), ...selectors].join(' ');
}
