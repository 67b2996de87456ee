/** A test whose full name carries the id of a case. */
export interface CaseTest {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** Groups and test, joined by ` > `. */
  readonly name: string;
  /** What a comment names as the change that makes it fail. */
  readonly mutation: string | undefined;
}

export function readCaseTests(root: string): CaseTest[];
export function testsOf(file: string, text: string): CaseTest[];
