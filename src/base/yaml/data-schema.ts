import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { type ExactValue, readExactly } from '../json/exact-value.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../json/json.ts';
import { compileSafe } from '../text/safe-pattern.ts';
import { findNearest } from '../text/suggest.ts';
import { addFormats, type Draft, draftOf, openAjv } from './ajv.ts';
import { loadBuilt } from './built.ts';
import { compilingExactly, replaceKeywords, validatingExactly } from './data-keywords.ts';
import { wordError } from './wording.ts';

type DataSchema = Readonly<Record<string, unknown>> | boolean;

/** Validates a value, which may be a `Json` or contain raw numbers; those are compared by their digits. */
export interface DataValidator {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[];
}

interface DataSchemaOptions {
  readonly isFirstOnly?: boolean;
  /** Enforces `format`, which is only an annotation in 2020-12. */
  readonly hasFormats?: boolean;
}

/**
 * Compiles a user's schema; all such schemas pass through here. `$schema` selects 2020-12, 2019-09 or draft-07. Without
 * it the schema is 2020-12, or draft-07 if it has a form that only draft-07 has. Numbers are decimals, names are own
 * properties, and nothing is fetched. Unknown keywords and formats are ignored. Patterns and `uniqueItems` take linear
 * time; a recursive schema may take very long. Throws Error if the schema cannot be used.
 */
export function compileDataSchema(
  given: DataSchema | Json,
  { isFirstOnly = false, hasFormats = false }: DataSchemaOptions = {},
): DataValidator {
  const text = given instanceof Json ? given.text : stringifyJson(given);
  const schema = readExactly(text.includes(PROTO) ? respell(parseLossless(text)) : given);
  const { value } = schema;
  if (!isObject(value) && typeof value !== 'boolean')
    throw new Error('it is neither an object nor a boolean');
  const { $schema: declared, ...rest } = isObject(value) ? value : { $schema: undefined };
  const body = isObject(value) ? rest : value;
  const exact = { ...schema, digits: moved(schema.digits, value, body) };
  // When ajv stops at the first violation, its code ignores a missing member named "".
  const stopsEarly = isFirstOnly && !text.includes('""');
  const kind = `${stopsEarly ? 'first' : 'all'} ${hasFormats ? 'formats' : ''}`;
  const unchecked = text.includes('"unevaluated') ? findUnchecked(value) : undefined;
  if (unchecked !== undefined) throw new Error(unchecked);
  if (declared === undefined && text.includes('"$recursiveRef":'))
    throw new Error('it has `$recursiveRef`, which exists only in 2019-09; set $schema to that version');
  const failures: unknown[] = [];
  for (const draft of draftsOf(declared)) {
    // The standard requires Unicode mode; patterns such as `^\-$` compile only without it.
    for (const unicodeRegExp of [true, false]) {
      const options = { ...lenient, allErrors: !stopsEarly, validateFormats: hasFormats, unicodeRegExp };
      try {
        return compilingExactly(exact, () =>
          compile(body, { draft, options, kind: `${kind} ${unicodeRegExp}` }),
        );
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    const misread = declared === undefined ? findMixedDraft(body) : undefined;
    if (misread !== undefined) throw new Error(misread);
  }
  throw failures[0];
}

function moved(digits: ExactValue['digits'], from: unknown, to: unknown): ExactValue['digits'] {
  const own = isObject(from) ? digits?.get(from) : undefined;
  return own === undefined || !isObject(to) ? digits : new Map([...(digits ?? []), [to, own]]);
}

function draftsOf(declared: unknown): readonly Draft[] {
  if (declared === undefined) return ['2020-12', 'draft-07'];
  const draft = draftOf(String(declared));
  if (draft === undefined)
    throw new Error(`its $schema ${declared} is neither 2020-12, 2019-09 nor draft-07`);
  return [draft];
}

interface Compilation {
  readonly draft: Draft;
  readonly options: Options;
  readonly kind: string;
}

function compile(schema: DataSchema, { draft, options, kind }: Compilation): DataValidator {
  const open = (more: Options = {}): Ajv => {
    const compiler = openAjv(draft, {
      ...options,
      // Draft-07 ignores the siblings of a `$ref`.
      ...(draft === 'draft-07' && { ignoreKeywordsWithRef: true }),
      ...more,
    });
    replaceKeywords(compiler);
    if (options.validateFormats === true) addFormats(compiler);
    return compiler;
  };
  // Opening a compiler takes longer than compiling, but in a shared one the ids of schemas would collide.
  if (JSON.stringify(schema).includes('"$id"')) return compileWith(open(), schema);
  const shared = (name: string, more?: Options): Ajv => {
    const compiler = compilers.get(`${draft} ${kind} ${name}`) ?? open(more);
    compilers.set(`${draft} ${kind} ${name}`, compiler);
    return compiler;
  };
  if (draft === '2020-12' && isSchema202012(schema)) {
    try {
      return compileWith(shared('quick', { meta: false, validateSchema: false }), schema);
    } catch {
      // The schema is unusable or refers to the meta-schema, which this compiler lacks.
    }
  }
  return compileWith(shared('whole'), schema);
}

const compilers = new Map<string, Ajv>();

function wordSchemaError(error: ErrorObject, schema: DataSchema): string {
  const keys = error.instancePath.split('/').slice(1).map(unescapePointer);
  const value = keys.reduce<unknown>((part, key) => Object(part)[key], schema);
  const allowed: unknown = error.params['allowedValues'];
  const nearest =
    Array.isArray(allowed) && typeof value === 'string' ? findNearest(value, allowed.map(String)) : undefined;
  const place = keys.length === 0 ? 'it' : `\`${keys.join('.')}\``;
  return `${place} ${wordError(error, value)}${nearest === undefined ? '' : `, did you mean \`${nearest}\`?`}`;
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function compileWith(compiler: Ajv, schema: DataSchema): DataValidator {
  try {
    const validate = compiler.compile(schema);
    // An asynchronous validator returns a promise, which is truthy.
    if ('$async' in validate) throw new Error('it is asynchronous ($async)');
    const check: DataValidator = (given) => {
      const data = readExactly(given);
      const fits = validatingExactly(data, () => validate(data.value));
      check.errors = validate.errors ?? [];
      return fits;
    };
    return check;
  } catch (thrown) {
    const [first] = compiler.errors ?? [];
    const isOfSchema = thrown instanceof Error && thrown.message.startsWith('schema is invalid: ');
    throw isOfSchema && first !== undefined ? new Error(wordSchemaError(first, schema)) : thrown;
  } finally {
    if (isObject(schema)) compiler.removeSchema(schema);
  }
}

const lenient = {
  strict: false,
  logger: false,
  ownProperties: true,
  code: {
    regExp: Object.assign(compileSafe, { code: 'new RegExp' }),
    // Generated sets of names must not inherit names. Text of the schema is in double quotes and stays unchanged.
    process: (code: string) =>
      code.replaceAll(
        /"(?:[^"\\]|\\.)*"|\b((?:props\d+|dynamicAnchors) ?= ?(?:props\d+ \|\| )?)\{\}/g,
        (all, start) => (start === undefined ? all : `${start}Object.create(null)`),
      ),
  },
} as const satisfies Options;

/**
 * Why ajv cannot check `unevaluatedItems` or `unevaluatedProperties` somewhere in the schema: it would count too much
 * as evaluated. Such a schema is refused, since it would let data pass.
 */
function findUnchecked(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return schema.map(findUnchecked).find((each) => each !== undefined);
  if (!isObject(schema)) return undefined;
  const keyword = ['unevaluatedItems', 'unevaluatedProperties'].find((name) => Object.hasOwn(schema, name));
  const beside = keyword === undefined ? undefined : findConfusing(schema, keyword, true);
  if (beside !== undefined)
    return `it has \`${keyword}\` over \`${beside}\`, which cannot be checked together`;
  return findUnchecked(Object.values(schema));
}

function findConfusing(schema: unknown, keyword: string, isSure: boolean): string | undefined {
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, 'if') && !Object.hasOwn(schema, 'then')) return 'if';
  if (keyword === 'unevaluatedItems' && Object.hasOwn(schema, 'contains')) return 'contains';
  if (keyword === 'unevaluatedItems' && !isSure && Object.hasOwn(schema, 'items')) return 'items';
  const parts = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas'].flatMap((name) => {
    const part = schema[name];
    const each = Array.isArray(part)
      ? part
      : name === 'dependentSchemas' && isObject(part)
        ? Object.values(part)
        : [part];
    return each.map((inner) => findConfusing(inner, keyword, isSure && name === 'allOf'));
  });
  return parts.find((found) => found !== undefined);
}

/** Keywords that a schema without `$schema` has but that the assumed draft ignores. */
function findMixedDraft(schema: DataSchema): string | undefined {
  const text = JSON.stringify(schema);
  const newer = laterKeywords.find((keyword) => text.includes(`"${keyword}":`));
  return newer === undefined
    ? undefined
    : `it has \`${newer}\`, which draft-07 lacks, and also what 2020-12 does not allow; set $schema to the version that you mean`;
}

const laterKeywords =
  'prefixItems dependentSchemas dependentRequired unevaluatedProperties unevaluatedItems minContains maxContains $dynamicRef $anchor'.split(
    ' ',
  );

/** Rewrites rules for a member named `__proto__`, which ajv does not support. Keeps raw numbers. */
function respell(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(respell);
  if (!isObject(schema) || JSON.isRawJSON(schema)) return schema;
  const copy: Record<string, unknown> = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (schemaKeywords.has(keyword)) copy[keyword] = respell(value);
    else if (namedKeywords.has(keyword) && isObject(value))
      copy[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, respell(each)]));
  }
  const conditions: unknown[] = [];
  for (const keyword of ['properties', 'dependentRequired', 'dependentSchemas', 'dependencies']) {
    const named = copy[keyword];
    if (!isObject(named) || !Object.hasOwn(named, PROTO)) continue;
    const { [PROTO]: own, ...others } = named;
    copy[keyword] = others;
    if (keyword === 'properties') {
      const patterns = isObject(copy['patternProperties']) ? copy['patternProperties'] : {};
      const pattern = Object.hasOwn(patterns, `^${PROTO}$`) ? `^(${PROTO})$` : `^${PROTO}$`;
      copy['patternProperties'] = { ...patterns, [pattern]: own };
    } else {
      const then = Array.isArray(own) ? { required: own } : own;
      conditions.push({ if: { required: [PROTO] }, then });
    }
  }
  if (conditions.length > 0)
    copy['allOf'] = [...(Array.isArray(copy['allOf']) ? copy['allOf'] : []), ...conditions];
  return copy;
}

const PROTO = '__proto__';

const schemaKeywords: ReadonlySet<string> = new Set(
  `allOf anyOf oneOf not if then else items prefixItems additionalItems contains additionalProperties propertyNames
    unevaluatedItems unevaluatedProperties contentSchema`.split(/\s+/),
);

const namedKeywords: ReadonlySet<string> = new Set(
  'properties patternProperties $defs definitions dependentSchemas dependencies'.split(' '),
);

export const metaSchemaName = 'json-schema-2020-12';

/** Checks against JSON Schema 2020-12 without formats, by a validator that `npm run build` compiled. */
export function isSchema202012(value: unknown): boolean {
  validate ??= loadBuilt<{ readonly validate: ValidateFunction }>(
    `#validators/${metaSchemaName}.js`,
  ).validate;
  return validate(value) === true;
}

let validate: ValidateFunction | undefined;
