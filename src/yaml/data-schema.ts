import { createRequire } from 'node:module';
import type { Ajv, Options, ValidateFunction } from 'ajv';
import { isObject } from '../json/json.ts';
import { compileSafe } from '../text/safe-pattern.ts';
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
  const drafts = draftsOf(declared, isFirstOnly ? firstErrorDrafts : allErrorsDrafts);
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

function draftsOf(declared: unknown, { draft2020, draft2019, draft07 }: Drafts): readonly Compile[] {
  if (declared === undefined) return [...draft2020, ...draft07];
  const name = String(declared);
  if (name.includes('2020-12')) return draft2020;
  if (name.includes('2019-09')) return draft2019;
  if (/draft-0[67]/.test(name)) return draft07;
  throw new Error(`its $schema ${name} is neither 2020-12, 2019-09 nor draft-07`);
}

/** `unicodeRegExp` is what the standard asks for; patterns such as `^\-$` compile only without it. */
function withOptions(allErrors: boolean, create: (options: Options) => Compiler): readonly Compile[] {
  return [true, false].map((unicodeRegExp) => {
    const open = (): Compiler => {
      const compiler = create({ ...lenient, allErrors, unicodeRegExp });
      makeUniqueItemsLinear(compiler);
      return compiler;
    };
    let shared: Compiler | undefined;
    return (schema) => {
      // Opening a compiler takes longer than compiling; but ids would meet in it, those of other tools too.
      if (hasId(schema)) return compileWith(open(), schema);
      shared ??= open();
      return compileWith(shared, schema);
    };
  });
}

type Compiler = Pick<Ajv, 'compile' | 'removeSchema' | 'addKeyword' | 'removeKeyword'>;

function hasId(schema: DataSchema): boolean {
  return JSON.stringify(schema).includes('"$id"');
}

function compileWith(compiler: Compiler, schema: DataSchema): ValidateFunction {
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

interface Drafts {
  readonly draft2020: readonly Compile[];
  readonly draft2019: readonly Compile[];
  readonly draft07: readonly Compile[];
}

/** ajv is loaded for the first schema of each draft: most commands meet none. */
function openDrafts(allErrors: boolean): Drafts {
  return {
    draft2020: withOptions(allErrors, (options) => {
      const { Ajv2020 }: typeof import('ajv/dist/2020.js') = load('ajv/dist/2020.js');
      return new Ajv2020(options);
    }),
    draft2019: withOptions(allErrors, (options) => {
      const { Ajv2019 }: typeof import('ajv/dist/2019.js') = load('ajv/dist/2019.js');
      return new Ajv2019(options);
    }),
    draft07: withOptions(allErrors, (options) => {
      const ajv: typeof import('ajv') = load('ajv');
      return new ajv.Ajv(options);
    }),
  };
}

const load = createRequire(import.meta.url);

const allErrorsDrafts = openDrafts(true);
const firstErrorDrafts = openDrafts(false);
