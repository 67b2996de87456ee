import fc from 'fast-check';
import { call } from '../../story/rig/http-call';

/** The parts of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Schema;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[]; readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> } }>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly schemas: Readonly<Record<string, Schema>>;
}

export interface Input {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
/** Never ends by itself. */
const ENDLESS = ['/v1/events'];

/** Every operation that the document names. */
export async function operationsOf(url: string): Promise<Operation[]> {
  const document = JSON.parse((await call(url)).body) as Document;
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    METHODS.filter((method) => verbs[method] !== undefined && !ENDLESS.includes(path)).map((method) => ({
      method: method.toUpperCase(), path, parameters: verbs[method]?.parameters ?? [],
      body: Object.values(verbs[method]?.requestBody?.content ?? {})[0]?.schema, schemas: document.components?.schemas ?? {},
    })));
}

const wild = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('', '\u0000', '\ud800', -1, 1.5, 9007199254740993, 1e308, null, [], {}, 'x'.repeat(5000), "'; drop table tenants; --", '=cmd()', '__proto__'));

/** Values as the schema wants them, with a wild one now and then at every level. */
function valueOf(schema: Schema | undefined, schemas: Operation['schemas'], depth = 0): fc.Arbitrary<unknown> {
  if (schema === undefined || depth > 5) return wild;
  if (schema.$ref !== undefined) return valueOf(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)], schemas, depth + 1);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  const proper = choices !== undefined ? fc.oneof(...choices.map((choice) => valueOf(choice, schemas, depth + 1))) : plainValue(schema, schemas, depth);
  return fc.oneof({ weight: 9, arbitrary: proper }, { weight: 1, arbitrary: wild });
}

function plainValue(schema: Schema, schemas: Operation['schemas'], depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  switch (type) {
    case 'object': {
      const shape = Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, member]) => [name, valueOf(member, schemas, depth + 1)]));
      const known = fc.record(shape, { requiredKeys: [] });
      return typeof schema.additionalProperties === 'object'
        ? fc.tuple(known, fc.dictionary(fc.string({ maxLength: 12 }), valueOf(schema.additionalProperties, schemas, depth + 1), { maxKeys: 3 })).map(([one, other]) => ({ ...other, ...one }))
        : known;
    }
    case 'array': return fc.array(valueOf(schema.items, schemas, depth + 1), { maxLength: 4 });
    case 'integer':
    case 'number': return fc.oneof(fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1000, 1e15) }), fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 0));
    case 'boolean': return fc.boolean();
    case 'string': return fc.oneof(fc.string({ maxLength: 70 }), fc.stringMatching(/^[a-z0-9-]{1,20}$/), fc.constantFrom('acme', 'free', 'pro', 'per-minute', '2026-12-01', '2026-12-01T00:00:00Z', 'UTC', '*'), ...(schema.format === 'uuid' ? [fc.uuid()] : []));
    default: return wild;
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');
/** Lone surrogates can be in no URL. */
const encoded = (value: unknown): string => encodeURIComponent(text(value).replace(/\p{Surrogate}/gu, '\ufffd'));

/** Requests of one operation: near enough to the schema to get past its first check, wild enough to try the others. */
export function inputsOf({ path, parameters, body, schemas }: Operation): fc.Arbitrary<Input> {
  const values = fc.record(Object.fromEntries(parameters.map((parameter) => [`${parameter.in}/${parameter.name}`, valueOf(parameter.schema, schemas)])));
  const hasPart = fc.array(fc.boolean(), { minLength: parameters.length, maxLength: parameters.length });
  const bodies = body === undefined ? fc.constant(undefined) : fc.oneof({ weight: 9, arbitrary: valueOf(body, schemas).map((value) => JSON.stringify(value)) }, { weight: 1, arbitrary: fc.string() });
  return fc.tuple(values, hasPart, bodies, fc.constantFrom(undefined, '"1"', '*', '"x"')).map(([all, parts, sent, ifMatch]) => {
    let target = path;
    const query: string[] = [];
    const headers: Record<string, string> = { ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) };
    parameters.forEach((parameter, index) => {
      const value = all[`${parameter.in}/${parameter.name}`];
      if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encoded(value) || 'none');
      else if (parts[index] && parameter.in === 'query') query.push(`${parameter.name}=${encoded(value)}`);
      else if (parts[index] && parameter.in === 'header') headers[parameter.name.toLowerCase()] = text(value).replace(/[^ -~]/g, '');
    });
    return { path: query.length > 0 ? `${target}?${query.join('&')}` : target, headers, body: sent };
  });
}
