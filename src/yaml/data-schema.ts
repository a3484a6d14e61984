import type { Ajv, Options, ValidateFunction } from 'ajv';
import { isObject } from '../json/json.ts';
import { compileSafe } from '../text/safe-pattern.ts';
import { type Draft, draftOf, openAjv } from './ajv.ts';
import { isSchema202012 } from './meta-schema.ts';
import { makeUniqueItemsLinear } from './unique-items.ts';

type DataSchema = Readonly<Record<string, unknown>> | boolean;

/**
 * Compiles a schema that a user wrote for data: JSON Schema 2020-12, 2019-09 or draft-07 by its `$schema`,
 * without one the first of 2020-12 and draft-07 that it fits. Unknown keywords and formats are ignored.
 * Patterns and `uniqueItems` take linear time, a recursive schema may take very long. `isFirstOnly`:
 * stop at the first violation. Throws Error when the schema cannot be used.
 */
export function compileDataSchema(schema: DataSchema, { isFirstOnly = false } = {}): ValidateFunction {
  const { $schema: declared, ...rest } = isObject(schema) ? schema : { $schema: undefined };
  const body = isObject(schema) ? rest : schema;
  const drafts = compilersFor(declared, isFirstOnly ? firstErrorDrafts : allErrorsDrafts);
  const failures: unknown[] = [];
  for (const compile of drafts) {
    try {
      return compile(body);
    } catch (thrown) {
      failures.push(thrown);
    }
  }
  throw failures[0];
}

type Compile = (schema: DataSchema) => ValidateFunction;

function compilersFor(declared: unknown, compilers: Drafts): readonly Compile[] {
  if (declared === undefined) return [...compilers['2020-12'], ...compilers['draft-07']];
  const draft = draftOf(String(declared));
  if (draft !== undefined) return compilers[draft];
  throw new Error(`its $schema ${declared} is neither 2020-12, 2019-09 nor draft-07`);
}

/** `unicodeRegExp` is what the standard asks for; patterns such as `^\-$` compile only without it. */
function withOptions(allErrors: boolean, draft: Draft): readonly Compile[] {
  return [true, false].map((unicodeRegExp) => {
    const open = (more: Options = {}): Ajv => {
      const compiler = openAjv(draft, { ...lenient, allErrors, unicodeRegExp, ...more });
      makeUniqueItemsLinear(compiler);
      return compiler;
    };
    let shared: Ajv | undefined;
    let quick: Ajv | undefined;
    return (schema) => {
      // Opening a compiler takes longer than compiling; but ids would meet in it, those of other tools too.
      if (hasId(schema)) return compileWith(open(), schema);
      if (draft === '2020-12' && isSchema202012(schema)) {
        quick ??= open({ meta: false, validateSchema: false });
        const validate = orNothing(quick, schema);
        if (validate !== undefined) return validate;
      }
      shared ??= open();
      return compileWith(shared, schema);
    };
  });
}

/** Undefined for what cannot be used, and for what refers to the meta-schema, which a quick compiler lacks. */
function orNothing(compiler: Ajv, schema: DataSchema): ValidateFunction | undefined {
  try {
    return compileWith(compiler, schema);
  } catch {
    return undefined;
  }
}

function hasId(schema: DataSchema): boolean {
  return JSON.stringify(schema).includes('"$id"');
}

function compileWith(compiler: Ajv, schema: DataSchema): ValidateFunction {
  try {
    const validate = compiler.compile(schema);
    // An asynchronous validator answers every value with a promise, which is true.
    if ('$async' in validate) throw new Error('it is asynchronous ($async)');
    return validate;
  } finally {
    if (isObject(schema)) compiler.removeSchema(schema);
  }
}

const lenient = {
  strict: false,
  validateFormats: false,
  logger: false,
  // `code` is for validators that are written to a file.
  code: { regExp: Object.assign(compileSafe, { code: 'new RegExp' }) },
} as const;

type Drafts = Readonly<Record<Draft, readonly Compile[]>>;

function openDrafts(allErrors: boolean): Drafts {
  return {
    '2020-12': withOptions(allErrors, '2020-12'),
    '2019-09': withOptions(allErrors, '2019-09'),
    'draft-07': withOptions(allErrors, 'draft-07'),
  };
}

const allErrorsDrafts = openDrafts(true);
const firstErrorDrafts = openDrafts(false);
