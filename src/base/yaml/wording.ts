import type { ErrorObject } from 'ajv';
import { RuntimeError } from '../errors.ts';
import { shorten } from '../text/phrases.ts';
import { suggest } from '../text/suggest.ts';

/** One ajv error as a sentence about the value, without its path. */
export function wordError(error: ErrorObject, value: unknown): string {
  const word = sentences[error.keyword];
  const params: Readonly<Record<string, unknown>> = error.params;
  return word ? word(params, value) : (error.message ?? `fails the rule \`${error.keyword}\``);
}

/** A short description: `a list`, `the number 5`, `"5s"`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string')
    return value === '' ? 'an empty string' : `the string ${JSON.stringify(shortLine(value))}`;
  return typeof value === 'number' ? `the number ${value}` : String(value);
}

type Params = Readonly<Record<string, unknown>>;
type Sentence = (params: Params, value: unknown) => string;

const sentences: Readonly<Record<string, Sentence | undefined>> = {
  type: ({ type }, value) => `must be ${listTypes(type)}, not ${describeValue(value)}`,
  enum: ({ allowedValues }, value) => `must be one of: ${listWords(allowedValues)} (got: ${got(value)})`,
  const: ({ allowedValue }, value) => `must be ${String(allowedValue)} (got: ${got(value)})`,
  minimum: ({ limit }, value) => `must be at least ${limit} (got: ${got(value)})`,
  maximum: ({ limit }, value) => `must be at most ${limit} (got: ${got(value)})`,
  exclusiveMinimum: ({ limit }, value) => `must be more than ${limit} (got: ${got(value)})`,
  exclusiveMaximum: ({ limit }, value) => `must be less than ${limit} (got: ${got(value)})`,
  multipleOf: ({ multipleOf }, value) => `must be a multiple of ${multipleOf} (got: ${got(value)})`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minProperties: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} keys`),
  maxProperties: ({ limit }) => `must have at most ${limit} keys`,
  uniqueItems: ({ i, j }) => `items ${[i, j].toSorted().join(' and ')} are the same`,
  pattern: ({ pattern }, value) =>
    // An expression's value has another type, so a text can only be the expression.
    String(pattern).includes('\\$\\{')
      ? `must not be text, except an expression \`\${…}\` (got: ${got(value)})`
      : `must match ${pattern} (got: ${got(value)})`,
  format: ({ format }, value) => `must be a ${format} (got: ${got(value)})`,
  dependentRequired: ({ property, missingProperty }) => `\`${property}\` also needs \`${missingProperty}\``,
  not: () => 'is a combination that is not allowed',
  'false schema': () => 'is not allowed here',
  union: ({ sentence }) => String(sentence),
};

const typeNames: Readonly<Record<string, string | undefined>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function listTypes(type: unknown): string {
  const types = (Array.isArray(type) ? type : [type]).map(String).filter((name) => name !== 'null');
  const names = types.map((name) => typeNames[name] ?? name);
  if (names.length === 0) return 'empty';
  return names.length === 1 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function listWords(words: unknown): string {
  if (!Array.isArray(words)) return String(words);
  return words
    .map(String)
    .filter((word) => word !== '')
    .join(', ');
}

function got(value: unknown): string {
  return typeof value === 'string' && value !== '' ? shortLine(value) : bare(value);
}

function bare(value: unknown): string {
  return typeof value === 'number' ? String(value) : describeValue(value);
}

function shortLine(text: string): string {
  return shorten(text.replaceAll(/\s+/g, ' '), 60, 57);
}

type WithoutUndefined<Value> = { [Key in keyof Value]?: Exclude<Value[Key], undefined> };

export function omitUndefined<Value extends object>(value: Value): WithoutUndefined<Value> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries) as WithoutUndefined<Value>;
}

/** Throws NAME_UNKNOWN and suggests the name that was probably meant. */
export function unknownName(
  what: 'tool' | 'eval' | 'provider' | 'MCP server',
  name: string,
  known: Iterable<string>,
): never {
  const hint = suggest(name, [...known], `${what}s`);
  throw new RuntimeError('NAME_UNKNOWN', `there is no ${what} "${name}"`, hint);
}
