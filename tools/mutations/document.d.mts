import type { Mutation } from './mutations.mjs';

/** Results by id, and the date of the last full run. */
export function readDocument(text: string): { readonly results: Map<string, string>; readonly date: string | undefined };
export function renderDocument(mutations: readonly Mutation[], results: ReadonlyMap<string, string>, date: string | undefined): string;
