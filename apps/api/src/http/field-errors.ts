import type { FieldError } from '@quotaplane/contracts';
import type { z } from 'zod';

/** RFC 6901: `base` followed by the steps of `path`. */
export function pointerTo(base: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((pointer, step) => `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`, base);
}

/** Every bad field of a failed parse with its first fault, each with a pointer; an unknown field is pointed at itself. */
export function fieldErrorsOf(error: z.ZodError, base: string): FieldError[] {
  const errors = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ pointer: pointerTo(base, [...issue.path, key]), detail: 'is not a known field' }));
    }
    return [{ pointer: pointerTo(base, issue.path), detail: issue.message }];
  });
  return errors.filter(({ pointer }, index) => errors.findIndex((other) => other.pointer === pointer) === index);
}
