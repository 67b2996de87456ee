import { z } from 'zod';

type Sentence = z.core.$ZodErrorMap;
type RawIssue = Parameters<Sentence>[0];

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be text', number: 'must be a number', int: 'must be a whole number', boolean: 'must be true or false',
  array: 'must be a list', object: 'must be an object', record: 'must be an object', null: 'must be null',
};
const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be an instant such as 2026-11-30T00:00:00Z', date: 'must be a date such as 2026-11-30', email: 'must be an e-mail address',
  uuid: 'must be a UUID', url: 'must be a URL',
};

/**
 * Zod's issues as sentences that go on after a field's name, for those checks whose contract brings no words of its own.
 * @param root the schema that is parsed; the bounds of a number are read from it
 */
export function sentencesFor(root: z.ZodType): Sentence {
  return (issue) => (isMissing(issue) ? 'is required' : numberSentence(root, issue) ?? sentenceOf(issue));
}

function isMissing(issue: RawIssue): boolean {
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) return memberOf(issue.input, issue.discriminator) === undefined;
  return issue.input === undefined && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
}

/** One sentence with both bounds, whichever of them or the type was missed. */
function numberSentence(root: z.ZodType, issue: RawIssue): string | undefined {
  const isNumeric = issue.code === 'invalid_type' ? ['number', 'int'].includes(issue.expected) : 'origin' in issue && ['number', 'int'].includes(String(issue.origin));
  const schema = isNumeric ? schemaAt(root, issue.path ?? []) : undefined;
  if (!(schema instanceof z.ZodNumber) || !schema.isInt) return undefined;
  return `must be a whole number from ${schema.minValue} to ${schema.maxValue}`;
}

/** The schema of a member, without optional, nullable and default; undefined behind a union. */
function schemaAt(root: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = unwrapped(root);
  for (const step of path) {
    if (schema instanceof z.ZodObject) schema = unwrapped(schema.shape[String(step)]);
    else if (schema instanceof z.ZodArray) schema = unwrapped(schema.element);
    else if (schema instanceof z.ZodRecord) schema = unwrapped(schema.valueType);
    else return undefined;
  }
  return schema;
}

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) inner = inner.unwrap();
  return inner;
}

function sentenceOf(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type': return (issue.inst instanceof z.ZodStringFormat ? FORMATS[issue.inst.format ?? ''] : undefined) ?? TYPES[issue.expected] ?? `must be of type ${issue.expected}`;
    case 'invalid_value': return oneOf(issue.values.map(String));
    case 'invalid_format': return FORMATS[issue.format] ?? (issue.pattern === undefined ? 'has the wrong form' : `must match ${issue.pattern.replace(/^\/\^?|\$?\/$/g, '')}`);
    case 'too_small': return boundSentence(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big': return boundSentence(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of': return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union': return unionSentence(issue);
    default: return 'is invalid';
  }
}

function boundSentence(origin: string, bound: number, words: string): string {
  if (origin === 'string') return bound === 1 && words === 'at least' ? 'must not be empty' : `must have ${words} ${counted(bound, 'character', 'characters')}`;
  if (['array', 'set', 'map', 'object'].includes(origin)) return `must have ${words} ${counted(bound, 'entry', 'entries')}`;
  return `must be ${words} ${bound}`;
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
const oneOf = (values: readonly string[]): string => (values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`);

/** What each alternative wants of the value itself; of an object's members no one alternative can be blamed. */
function unionSentence(issue: Extract<RawIssue, { code: 'invalid_union' }>): string {
  if (issue.discriminator !== undefined) {
    const known = (issue.inst as z.core.$ZodType | undefined)?._zod.propValues?.[issue.discriminator];
    return known ? oneOf([...known].map(String)) : 'is not a known kind';
  }
  const wants = new Set(issue.errors.flat().filter(({ path }) => path.length === 0).map(({ message }) => message));
  return wants.size > 0 ? [...wants].join(', or ') : 'fits none of the forms that this field can take';
}
