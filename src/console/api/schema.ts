import type { Principal, Scope } from '../../contract/caller.ts';

/** A JSON Schema (2020-12) that is also a type. Declarations are constants, and have no behaviour. */
export type Schema = object;
type Properties = Readonly<Record<string, Schema>>;

/** Symbols hold the types; JSON and validators ignore them. */
const members = Symbol('members');
const document = Symbol('document');

export interface ObjectSchema<
  Required extends Properties = Properties,
  Optional extends Properties = Properties,
> {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Properties;
  readonly additionalProperties?: boolean;
  readonly [members]: { readonly required: Required; readonly optional: Optional | undefined };
}

/** An object, which may have further members. */
export function object<
  const Required extends Properties,
  const Optional extends Properties = Record<never, never>,
>(required: Required, optional?: Optional): ObjectSchema<Required, Optional> {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    [members]: { required, optional },
  };
}

/** An object with no further members: the query or the body of a request. */
export function input<
  const Required extends Properties,
  const Optional extends Properties = Record<never, never>,
>(required: Required, optional?: Optional): ObjectSchema<Required, Optional> {
  return { ...object(required, optional), additionalProperties: false };
}

export function list<const Item extends Schema>(items: Item) {
  return { type: 'array', items } as const;
}

export function mapOf<const Entry extends Schema>(additionalProperties: Entry) {
  return { type: 'object', additionalProperties } as const;
}

export function nullable<const Given extends Schema>(schema: Given) {
  return { anyOf: [schema, { type: 'null' }] } as const;
}

/** A document whose type is declared elsewhere, in contract/. Of its members, only those that it must have are checked. */
export function documentOf<Document extends object>(
  description: string,
  required: readonly (keyof Document & string)[] = [],
): DocumentSchema<Document> {
  return { type: 'object', description, ...(required.length > 0 && { required }), [document]: [] };
}

export interface DocumentSchema<Document> {
  readonly type: 'object';
  readonly description: string;
  readonly required?: readonly string[];
  readonly [document]: readonly Document[];
}

export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const number = { type: 'number' } as const;
export const anything = {} as const;
/** An ISO 8601 time. */
export const time = { type: 'string', format: 'date-time' } as const;

/** Members of the query of a list: the largest number of items, and the `next` of the previous page. */
export const paging = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: 'The largest number of items. Default: 100.',
  },
  after: { type: 'string', description: 'The `next` of the previous page.' },
} as const;

/** The type of what fits a schema. */
export type Static<Of> = Of extends { readonly [document]: readonly (infer Document)[] }
  ? Document
  : Of extends {
        readonly [members]: { readonly required: infer Required; readonly optional: infer Optional };
      }
    ? Flat<
        { readonly [Key in keyof Required]: Static<Required[Key]> } & {
          readonly [Key in keyof NonNullable<Optional>]?: Static<NonNullable<Optional>[Key]>;
        }
      >
    : Of extends { readonly anyOf: readonly (infer One)[] }
      ? Static<One>
      : Of extends { readonly const: infer Value }
        ? Value
        : Of extends { readonly enum: readonly (infer Value)[] }
          ? Value
          : Of extends { readonly type: 'array'; readonly items: infer Item }
            ? readonly Static<Item>[]
            : Of extends {
                  readonly type: 'object';
                  readonly additionalProperties: infer Entry extends object;
                }
              ? Readonly<Record<string, Static<Entry>>>
              : Of extends { readonly type: keyof Scalars }
                ? Scalars[Of['type']]
                : Of extends { readonly type: readonly (infer Type extends keyof Scalars)[] }
                  ? Scalars[Type]
                  : unknown;

interface Scalars {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
  object: object;
}

type Flat<Members> = { readonly [Key in keyof Members]: Members[Key] };

/** A response that is sent in parts while it is made. */
export interface TextStream {
  readonly stream: 'application/x-ndjson' | 'text/plain';
  readonly description: string;
}

/** What `METHOD /path` takes and returns. The path is below /api/v1, and may have `{id}`. */
export interface Endpoint {
  readonly about: string;
  /** The caller has one of these; empty: it has any credential. `none`: it needs no credential. */
  readonly scopes: readonly Scope[] | 'none';
  /** Texts of the address, read as the types of the schema. A list is a member that is repeated. */
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  /** Default: 200. */
  readonly status?: 202;
  readonly response: Schema | TextStream;
}

export type Declarations = Readonly<Record<`${'GET' | 'POST' | 'DELETE'} /${string}`, Endpoint>>;

type Given<Of> = Of extends ObjectSchema ? Static<Of> : Readonly<Record<never, never>>;
export type QueryOf<Of> = Of extends { readonly query: infer Query }
  ? Given<Query>
  : Readonly<Record<never, never>>;
export type BodyOf<Of> = Of extends { readonly body: infer Body } ? Given<Body> : undefined;
export type ReplyOf<Of> = Of extends { readonly response: infer Response }
  ? Response extends TextStream
    ? AsyncIterable<string>
    : Static<Response>
  : never;

/** The names in braces of a path. */
export type ParamsOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name | keyof ParamsOf<Rest>]: string }
  : Readonly<Record<never, never>>;

export interface Call<Path = string, Of = Endpoint> {
  readonly params: ParamsOf<Path>;
  readonly query: QueryOf<Of>;
  readonly body: BodyOf<Of>;
  readonly caller: Principal;
  /** Aborts when the client leaves, or the server. */
  readonly signal: AbortSignal;
}

export type Handlers<Group> = {
  readonly [Path in keyof Group]: (
    call: Call<Path, Group[Path]>,
  ) => Promise<ReplyOf<Group[Path]>> | ReplyOf<Group[Path]>;
};
