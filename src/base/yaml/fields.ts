import { isObject } from '../json/json.ts';
import { longestMs } from '../time/async.ts';
import type { Path, YamlDocument } from './document.ts';
import { choiceAt, entriesAt, integerAt, itemsAt, nonEmptyTextAt, numberAt, valueAt } from './read.ts';

/*
 * A field is a JSON Schema. It determines how a checked document's value is read, and the type of that value. Symbols
 * hold the rest; JSON, validators and docs/reference/config.md ignore them.
 */

/** The member name of a key's value. Default: the key in camel case. */
export const as = Symbol('as');

/** The default for an absent value, or empty text or list; `{}` of a mapping applies its members' defaults. */
export const usual = Symbol('usual');

/** Reads the value instead of the schema's own rule; null omits the member. */
export const read = Symbol('read');

export function usually<const Schema extends { readonly description: string }, const Value>(
  value: Value,
  schema: Schema,
  shown = String(value),
): Omit<Schema, 'description'> & { readonly description: string; readonly [usual]: Value } {
  return { ...schema, description: `${schema.description} Default: ${shown}.`, [usual]: value };
}

type Properties = Readonly<Record<string, unknown>>;

/** The members that a mapping with these keys is read as. Keys without a type are accepted but not read. */
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

/** Where text is allowed, a number or boolean is read as the text in the file. */
type Scalar<Type> = 'string' extends Type
  ? string
  : Type extends 'boolean'
    ? boolean
    : Type extends 'null'
      ? never
      : number;

/** Reads the mapping at `path` of a checked document. Fields that are expressions receive `variables`. */
export function readFields<Keys>(
  document: YamlDocument,
  path: Path,
  keys: Keys,
  variables: readonly string[] = [],
): Fields<Keys> {
  const values: Record<string, unknown> = {};
  const mapping = valueAt(document, path);
  for (const { key, name, field, isAlwaysRead } of membersOf(keys as Properties)) {
    // Most keys are absent, and then nothing is looked up.
    const isLookedUp = isAlwaysRead || hasKey(mapping, key);
    const value = isLookedUp ? readField(document, [...path, key], field, variables) : field[usual];
    if (value !== undefined) values[name] = value;
  }
  return values as Fields<Keys>;
}

interface FieldMember {
  readonly key: string;
  readonly name: string;
  readonly field: FieldSchema;
  readonly isAlwaysRead: boolean;
}

/** A config may have thousands of mappings with the same keys. */
function membersOf(keys: Properties): readonly FieldMember[] {
  const known = members.get(keys);
  if (known !== undefined) return known;
  const found = Object.entries(keys).flatMap(([key, field]): FieldMember[] => {
    if (!isRead(field)) return [];
    const name = field[as] ?? key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const isAlwaysRead = field[read] !== undefined || field.properties !== undefined;
    return [{ key, name, field, isAlwaysRead }];
  });
  members.set(keys, found);
  return found;
}

const members = new WeakMap<Properties, readonly FieldMember[]>();

function hasKey(mapping: unknown, key: string): boolean {
  return isObject(mapping) && Object.hasOwn(mapping, key);
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
  // A timer cannot wait longer.
  return whole !== undefined && String(path.at(-1)).endsWith('_ms') ? Math.min(whole, longestMs) : whole;
}
