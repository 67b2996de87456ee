/** One change of the code that a test must notice. */
export interface Mutation {
  readonly id: string;
  /** In words, as the comment above the test names it. */
  readonly what: string;
  /** Path from the root. */
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Of Vitest. */
  readonly project: string;
  /** Path within the project. */
  readonly spec: string;
  /** Pattern of the tests' full names; every test of the file where it is left out. */
  readonly test?: string;
  /** Case, promise or rule that no longer holds. */
  readonly breaks: string;
}

export const MUTATIONS: readonly Mutation[];
/** How often a mutation's text is in a file. */
export function occurrences(text: string, find: string): number;
