import { z } from 'zod';
import * as errors from '../errors';
import * as limits from '../limits';
import * as policy from '../policy';
import * as access from '../resources/access';
import * as classes from '../resources/endpoint-classes';
import * as journals from '../resources/journals';
import * as keys from '../resources/keys';
import * as lists from '../resources/lists';
import * as operations from '../resources/operations';
import * as overrides from '../resources/overrides';
import * as publicLimits from '../resources/public-limits';
import * as statements from '../resources/statements';
import * as tenants from '../resources/tenants';
import * as tiers from '../resources/tiers';
import * as topUps from '../resources/top-ups';
import * as usage from '../resources/usage';
import * as usageRecords from '../resources/usage-records';
import * as webhookEvents from '../resources/webhook-events';
import * as webhooks from '../resources/webhooks';

export type JsonSchema = { [member: string]: unknown };

/** `input` is what a client sends (defaults may be left out), `output` what it gets. */
export type Side = 'input' | 'output';

const MODULES = [errors, limits, policy, access, classes, journals, keys, lists, operations, overrides, publicLimits, statements, tenants, tiers, topUps, usage, usageRecords, webhookEvents, webhooks];
const COMPONENTS = '#/components/schemas/';

/** Every object schema of the contract by the name it is exported under: `tierSchema` is component `Tier`. */
const named: ReadonlyMap<z.ZodType, string> = new Map(
  MODULES.flatMap((module) => Object.entries(module))
    .filter((entry): entry is [string, z.ZodObject] => entry[1] instanceof z.ZodObject)
    .map(([name, schema]) => [schema, name.replace(/Schema$/, '').replace(/^./, (letter) => letter.toUpperCase())]),
);

/** JSON Schemas of all that the routes use, one component a schema; what differs as input is a component of its own. */
export class Components {
  private readonly used = new Map<string, JsonSchema>();
  private readonly known = { input: convertNamed('input'), output: convertNamed('output') };

  /** A `$ref` to a named schema, or the schema itself where the contract gives it no name. */
  refer(schema: z.ZodType, side: Side): JsonSchema {
    const name = named.get(schema);
    if (name === undefined) return withoutIdentity(z.toJSONSchema(schema, { io: side, unrepresentable: 'any' }));
    const id = idOf(name, side);
    this.use(id, this.known[side]);
    return { $ref: `${COMPONENTS}${id}` };
  }

  /** Sorted by name, so that the document is the same however routes are ordered. */
  toJSON(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private use(id: string, known: ReadonlyMap<string, JsonSchema>): void {
    const schema = known.get(id);
    if (schema === undefined || this.used.has(id)) return;
    this.used.set(id, schema);
    for (const [, next] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) if (next !== undefined) this.use(next, known);
  }
}

const idOf = (name: string, side: Side): string => (side === 'input' ? `${name}Input` : name);

/** Converts all named schemas at once, so that they refer to each other instead of repeating. */
function convertNamed(side: Side): ReadonlyMap<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  named.forEach((name, schema) => registry.add(schema, { id: idOf(name, side) }));
  const { schemas } = z.toJSONSchema(registry, { io: side, unrepresentable: 'any', uri: (id) => `${COMPONENTS}${id}` });
  const { __shared: shared, ...own } = JSON.parse(inOneDocument(schemas, side)) as Record<string, JsonSchema>;
  const definitions = Object.entries((shared?.$defs ?? {}) as Record<string, JsonSchema>);
  return new Map([
    ...Object.entries(own).map(([id, schema]): [string, JsonSchema] => [id, withoutIdentity(schema)]),
    ...definitions.map(([id, schema]): [string, JsonSchema] => [sharedId(id, side), withoutIdentity(schema)]),
  ]);
}

const sharedId = (id: string, side: Side): string => `Shared${idOf(id.replace(/\D/g, ''), side)}`;

/** Schemas that refer to themselves (any JSON value) are put by zod into a document `__shared`; here all is one document. */
function inOneDocument(schemas: unknown, side: Side): string {
  return JSON.stringify(schemas).replace(/"(?:#\/components\/schemas\/__shared)?#\/\$defs\/([^"]+)"/g, (_, id: string) => `"${COMPONENTS}${sharedId(id, side)}"`);
}

function withoutIdentity({ $schema: _schema, $id: _id, id: _plainId, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
