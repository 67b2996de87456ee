import { DomainError } from '@quotaplane/contracts';

/** A version never passes a Postgres integer; a larger one in the header simply cannot match. */
const MAX_VERSION = 2_147_483_647;

/**
 * Reads the version out of `If-Match: "3"`.
 * @throws {DomainError} version_required when it is missing, malformed when it is anything but one strong version tag
 */
export function versionFromIfMatch(header: string | undefined): number {
  if (header === undefined) {
    throw new DomainError('version_required', 'Send If-Match with the version you have read, as in its ETag', {
      errors: [{ pointer: '/header/If-Match', detail: 'is required' }],
    });
  }
  const match = /^"(\d{1,15})"$/.exec(header.trim());
  if (!match) {
    throw new DomainError('malformed', 'If-Match must be one version in quotes, such as "3"', {
      errors: [{ pointer: '/header/If-Match', detail: 'must be one version in quotes, such as "3"' }],
    });
  }
  return Math.min(Number(match[1]), MAX_VERSION);
}
