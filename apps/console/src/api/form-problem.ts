import type { FieldValues, Path, UseFormSetError } from 'react-hook-form';
import { ApiProblem } from './api-problem';

/**
 * Puts the field errors of a refused request onto the form's fields.
 * @param fields names the form shows; an error elsewhere stays in the notice
 * @returns whether every error found its field
 */
export function showFieldErrors<T extends FieldValues>(error: unknown, setError: UseFormSetError<T>, fields: readonly string[]): boolean {
  if (!(error instanceof ApiProblem) || error.errors.length === 0) return false;
  let isComplete = true;
  for (const { pointer, detail } of error.errors) {
    const name = pointerToName(pointer);
    const isShown = fields.some((field) => name === field || name.startsWith(`${field}.`));
    if (isShown) setError(name as Path<T>, { type: 'server', message: detail });
    else isComplete = false;
  }
  return isComplete;
}

/** `/set/limits/per-minute/burst` to `set.limits.per-minute.burst`, undoing RFC 6901 escapes. */
export function pointerToName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
