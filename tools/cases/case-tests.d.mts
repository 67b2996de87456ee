/** A test as its source names it. */
export interface NamedTest {
  readonly file: string;
  readonly line: number;
  /** Groups and test, joined by ` > `. */
  readonly name: string;
  /** What a comment names as the change that makes it fail. */
  readonly mutation: string | undefined;
  /** Its inputs are made by fast-check or by a table. */
  readonly isGenerated: boolean;
}

/** A test whose name carries the id of a case. */
export interface CaseTest extends NamedTest {
  readonly id: string;
}

export function readCaseTests(root: string): CaseTest[];
export function testsOf(file: string, text: string): CaseTest[];
export function allTests(file: string, text: string): NamedTest[];
