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

/** The contract's pattern in words; what the server found wrong with a slug is shown as it says it. */
export function slugMessage(error: { readonly type?: unknown; readonly message?: string } | undefined): string | undefined {
  if (error === undefined || error.type === 'server') return error?.message;
  return 'Lower-case letters, digits and hyphens, 1 to 63 of them';
}

/** `/set/limits/per-minute/burst` to `set.limits.per-minute.burst`, undoing RFC 6901 escapes. */
export function pointerToName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
