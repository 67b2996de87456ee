import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { trackedFiles } from './tracked-files.mjs';

const SPEC = /\.(spec|story)\.tsx?$/;
const CASE_ID = /\bC\d{3}\b/g;
/** What Vitest or Playwright does not run proves nothing. */
const NOT_RUN = new Set(['skip', 'todo', 'fixme']);

/**
 * Every test of the repository whose full name carries the id of a case, read from the source without running it.
 * A test takes the ids of the groups around it, and the mutation that one of them names.
 * @param root folder of a Git working tree
 * @returns one entry a test and id: `{ id, file, line, name, mutation }`, `mutation` undefined where no comment names one
 */
export function readCaseTests(root) {
  return trackedFiles(root)
    .filter((file) => SPEC.test(file))
    .flatMap((file) => testsOf(file, readFileSync(join(root, file), 'utf8')));
}

/** @param text of one spec */
export function testsOf(file, text) {
  if (!/\bC\d{3}\b/.test(text)) return [];
  return allTests(file, text).flatMap((test) => [...new Set(test.name.match(CASE_ID) ?? [])].map((id) => ({ id, ...test })));
}

/**
 * Every test that a spec runs. `isGenerated`: by fast-check, or for each row of a table; its own or one of a group around it.
 * @param text of one spec
 */
export function allTests(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found = [];
  const visit = (node, around) => {
    const block = blockOf(node);
    if (block === undefined) return ts.forEachChild(node, (child) => visit(child, around));
    if (block.words.some((word) => NOT_RUN.has(word))) return undefined;
    const isGenerated = around.isGenerated || block.words.includes('each') || (block.isTest && /\bfc\.(assert|check)\(/.test(node.getText(source)));
    const here = { name: [around.name, block.title].filter(Boolean).join(' > '), mutation: mutationOf(node, source) ?? around.mutation, isGenerated };
    if (!block.isTest) return node.arguments.forEach((part) => visit(part, here));
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ file, line: line + 1, ...here });
  };
  visit(source, { name: '', mutation: undefined, isGenerated: false });
  return found;
}

/** A call such as `it('…')`, `it.each(…)('…')`, `describe('…')`; undefined for all other nodes. */
function blockOf(node) {
  if (!ts.isCallExpression(node)) return undefined;
  const [title] = node.arguments;
  const words = wordsOf(node.expression);
  const isTest = words[0] === 'it' || words[0] === 'test';
  if (!isTest && words[0] !== 'describe') return undefined;
  if (title === undefined || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) return undefined;
  return { words, isTest: isTest && words[1] !== 'describe', title: title.getText().slice(1, -1) };
}

function wordsOf(expression) {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) return [...wordsOf(expression.expression), expression.name.text];
  return ts.isCallExpression(expression) ? wordsOf(expression.expression) : [];
}

/** What the comment above a call names as its mutation, or the one that its body begins with. */
function mutationOf(node, source) {
  const statement = ts.findAncestor(node, ts.isExpressionStatement) ?? node;
  const body = node.arguments.find((part) => ts.isArrowFunction(part) && ts.isBlock(part.body))?.body;
  const starts = [statement.getFullStart(), ...(body?.statements[0] ? [body.statements[0].getFullStart()] : [])];
  const comments = starts.flatMap((start) => ts.getLeadingCommentRanges(source.text, start) ?? []);
  const words = comments.map(({ pos, end }) => source.text.slice(pos, end).replace(/^\/\/ ?/, '')).join(' ');
  return /Mutations?: (.+)/s.exec(words)?.[1];
}
