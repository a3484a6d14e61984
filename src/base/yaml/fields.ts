import { isObject } from '../json/json.ts';
import { longestMs } from '../time/async.ts';
import type { Path, YamlDocument } from './document.ts';
import { choiceAt, entriesAt, integerAt, itemsAt, nonEmptyTextAt, numberAt, valueAt } from './read.ts';

/*
 * A field is a JSON Schema, from which the value of a checked document is read and the type of that value follows. What a schema
 * cannot say stands in it under the symbols below, which JSON, validators and docs/config.md pass over.
 */

/** The name of the member that the value of a key becomes. Default: the key in camel case. */
export const as = Symbol('as');

/** What an absent value is read as; of a mapping `{}`: its members are read as absent. An empty text or list is absent. */
export const usual = Symbol('usual');

/** Reads the value in place of what follows from the schema; null: it becomes no member. */
export const read = Symbol('read');

/** The schema with a default that its description names. */
export function usually<const Schema extends { readonly description: string }, const Value>(
  value: Value,
  schema: Schema,
  shown = String(value),
): Omit<Schema, 'description'> & { readonly description: string; readonly [usual]: Value } {
  return { ...schema, description: `${schema.description} Default: ${shown}.`, [usual]: value };
}

type Properties = Readonly<Record<string, unknown>>;

/** The members that a mapping with these keys is read as. Keys without a type are accepted and not read. */
export type Fields<Keys> = Flat<
  {
    readonly [Key in keyof Keys as Keys[Key] extends Given ? NameOf<Key, Keys[Key]> : never]: Value<
      Keys[Key]
    >;
  } & {
    readonly [Key in keyof Keys as Keys[Key] extends Given ? never : NameOf<Key, Keys[Key]>]?: Value<
      Keys[Key]
    >;
  }
>;

type Flat<Members> = { readonly [Key in keyof Members]: Members[Key] };

interface Given {
  readonly [usual]: unknown;
}

type NameOf<Key, Field> = Field extends { readonly [read]: null }
  ? never
  : Field extends { readonly [as]: infer Name extends string }
    ? Name
    : Field extends { readonly type: unknown } | { readonly enum: unknown } | { readonly [read]: unknown }
      ? Camel<Key & string>
      : never;

type Camel<Key extends string> = Key extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Key;

/** What a value that fits the schema is read as. */
export type Value<Field> = Field extends { readonly [read]: (...given: never[]) => infer Result }
  ? Exclude<Result, undefined>
  : Field extends { readonly enum: readonly (infer Word)[] }
    ? Word
    : Field extends { readonly items: infer Item }
      ? readonly Value<Item>[]
      : Field extends { readonly properties: infer Keys }
        ? Fields<Keys>
        : Field extends { readonly additionalProperties: infer Entry extends object }
          ? ReadonlyMap<string, Value<Entry>>
          : Field extends { readonly type: infer Types }
            ? Scalar<Types extends readonly (infer Type)[] ? Type : Types>
            : never;

/** Where a text may stand, a number or boolean is read as the text that the file has. */
type Scalar<Type> = 'string' extends Type
  ? string
  : Type extends 'boolean'
    ? boolean
    : Type extends 'null'
      ? never
      : number;

/** The members of the mapping at `path` of a checked document. `variables` is handed to fields that are expressions. */
export function readFields<Keys>(
  document: YamlDocument,
  path: Path,
  keys: Keys,
  variables: readonly string[] = [],
): Fields<Keys> {
  const members: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(keys as Properties)) {
    if (!isRead(field)) continue;
    const value = readField(document, [...path, key], field, variables);
    const name = field[as] ?? key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    if (value !== undefined) members[name] = value;
  }
  return members as Fields<Keys>;
}

function isRead(field: unknown): field is FieldSchema {
  return isObject(field) && (read in field ? field[read] !== null : 'type' in field || 'enum' in field);
}

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly items?: FieldSchema;
  readonly properties?: Properties;
  readonly additionalProperties?: unknown;
  readonly [as]?: string;
  readonly [usual]?: unknown;
  readonly [read]?: (document: YamlDocument, path: Path, variables: readonly string[]) => unknown;
}

/** The value at `path` by its schema; its default, or undefined, where there is none. */
function readField(
  document: YamlDocument,
  path: Path,
  field: FieldSchema,
  variables: readonly string[] = [],
): unknown {
  return readGiven(document, path, field, variables) ?? readUsual(document, path, field, variables);
}

function readUsual(
  document: YamlDocument,
  path: Path,
  field: FieldSchema,
  variables: readonly string[],
): unknown {
  return field[usual] !== undefined && field.properties !== undefined && field[read] === undefined
    ? readFields(document, path, field.properties, variables)
    : field[usual];
}

function readGiven(
  document: YamlDocument,
  path: Path,
  field: FieldSchema,
  variables: readonly string[],
): unknown {
  if (field[read] !== undefined) return field[read](document, path, variables);
  if (field.enum !== undefined) return choiceAt(document, path, field.enum);
  const { items, properties, additionalProperties: entry } = field;
  if (items !== undefined) {
    const values = itemsAt(document, path).map((item) => readField(document, item, items, variables));
    return values.length === 0 ? undefined : values.filter((value) => value !== undefined);
  }
  const value = valueAt(document, path);
  if (properties !== undefined)
    return isObject(value) ? readFields(document, path, properties, variables) : undefined;
  if (isRead(entry)) {
    if (!isObject(value)) return undefined;
    const entries = entriesAt(document, path);
    return new Map(entries.map((each) => [each.name, readField(document, each.path, entry, variables)]));
  }
  const types = [field.type].flat();
  if (types.includes('boolean') && typeof value === 'boolean' && !types.includes('string')) return value;
  if (types.includes('string')) return nonEmptyTextAt(document, path);
  if (types.includes('number')) return numberAt(document, path);
  if (!types.includes('integer')) return undefined;
  const whole = integerAt(document, path, field.minimum ?? Number.NEGATIVE_INFINITY);
  // A timer waits no longer.
  return whole !== undefined && String(path.at(-1)).endsWith('_ms') ? Math.min(whole, longestMs) : whole;
}
