import { DomainError } from '@quotaplane/contracts';

/**
 * The 412 of an edit whose version has moved on, with both versions for the loser.
 * Use it after a conditional update (`updateMany({ where: { id, version } })`) that found no row although the resource is there.
 */
export function versionConflict(expected: number, found: number): DomainError {
  return new DomainError('version_conflict', `The resource is at version ${found}, not ${expected}`, { expected, found });
}
