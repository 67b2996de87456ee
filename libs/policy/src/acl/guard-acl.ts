import rules from './guard-acl.json';

/** Name of the Redis user that guards connect as. */
export const GUARD_ACL_USER: string = rules.user;

const allowed = (commands: readonly string[]): string[] => commands.map((command) => `+${command}`);

/**
 * The rules of the Redis user that guards connect as, in the words of `ACL SETUSER <user> ...` (Redis 7, for it needs selectors).
 * It may judge counters, keep journals and statistics and read what was published; it may not write a head, a policy, an override of a single
 * subject, a document or a key entry, not from within a script either: Redis judges each command of a script by itself. Repeating them is harmless.
 * @param password without spaces; `nopass` rules are not made
 * @see guard-acl.json for why each rule is there, docs/redis-keys.md for the text to paste
 */
export function guardAclRules(password: string): readonly string[] {
  return ['reset', 'on', `>${password}`, ...allowed(rules.connection.commands), ...rules.selectors.map(({ keys, commands }) => `(${[...keys, ...allowed(commands)].join(' ')})`)];
}
