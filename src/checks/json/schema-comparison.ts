import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { isObject } from '../../json/json.ts';
import { addFormats, draftOf, openAjv } from '../../yaml/ajv.ts';
import type { Jobs, SchemaResult } from '../bounded/job.ts';

/** How a JSON text differs from a schema; without a time limit. Throws for a schema that cannot be used. */
export function compareWithSchema({ schema, text }: Jobs['schema']): SchemaResult {
  const validate = compileSchema(schema);
  if (validate(JSON.parse(text))) return { violations: [], count: 0 };
  const errors = validate.errors ?? [];
  return { violations: errors.slice(0, MAX_VIOLATIONS).map(formatViolation), count: errors.length };
}

/** Why a schema cannot be used; undefined of one that can. */
export function findSchemaProblem(schema: string): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const remote = /^can't resolve reference (\S+)/.exec(message)?.[1];
    return remote === undefined
      ? `is not a JSON Schema: ${message.replace(/^schema is invalid: data(.*?)(?:, data.*)?$/s, 'its $1')}`
      : `refers to ${remote}, which it does not hold; nothing is fetched`;
  }
}

const MAX_VIOLATIONS = 5;

/** Draft-07, unless its `$schema` names a later one. Compiled ones are kept, as a suite asks with few schemas. */
function compileSchema(text: string): ValidateFunction {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const validate = compileUncached(JSON.parse(text));
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(text, validate);
  return validate;
}

const compiled = new Map<string, ValidateFunction>();
const MAX_CACHED = 100;

function compileUncached(schema: unknown): ValidateFunction {
  if (!isObject(schema)) throw new Error('it is not an object');
  const { $schema: declared, ...body } = schema;
  const name = String(declared ?? 'draft-07');
  const draft = draftOf(name);
  if (draft === undefined) throw new Error(`its $schema ${name} is neither draft-07, 2019-09 nor 2020-12`);
  try {
    return compileWith(openAjv(draft, { ...options, unicodeRegExp: true }), body);
  } catch (thrown) {
    // Patterns such as `^\-$` are good in Annex B only.
    if (!/regular expression/i.test(String(thrown))) throw thrown;
    return compileWith(openAjv(draft, { ...options, unicodeRegExp: false }), body);
  }
}

const options: Options = { strict: false, logger: false, allErrors: true };

function compileWith(ajv: Ajv, schema: Readonly<Record<string, unknown>>): ValidateFunction {
  addFormats(ajv);
  const validate = ajv.compile(schema);
  // An asynchronous validator answers every value with a promise, which is true.
  if ('$async' in validate) throw new Error('it is asynchronous ($async)');
  return validate;
}

function formatViolation({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = instancePath === '' ? 'the whole' : instancePath;
  const key = keyword === 'additionalProperties' ? `: ${String(params['additionalProperty'])}` : '';
  const choices = keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues'])}` : '';
  return `${place} ${message ?? `fails ${keyword}`}${key}${choices}`;
}
