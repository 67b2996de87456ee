import { GUARD_ACL_USER, guardAclRules } from '@quotaplane/policy';
import { expect, it } from 'vitest';
import { GUARD_USER, guardUserLine } from './guard-user.mjs';

it('gives the embedded Redis the user of guardAclRules', () => {
  expect(GUARD_USER).toBe(GUARD_ACL_USER);
  expect(guardUserLine('a-password')).toBe(`user ${GUARD_ACL_USER} ${guardAclRules('a-password').join(' ')}`);
});
