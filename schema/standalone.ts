import { _, type CodeKeywordDefinition, Name, stringify, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import equalModule from 'ajv/dist/runtime/equal.js';
import ucs2length from 'ajv/dist/runtime/ucs2length.js';
import standalone from 'ajv/dist/standalone/index.js';
import { toAscii } from '../build/ascii.ts';
import { split } from './split.ts';

/** The text of a module that exports `compileSchema(schema)` as `validate`, and imports nothing. Throws likewise. */
export function toStandaloneModule(schema: object): string {
  const ajv = openAjv();
  const code = withoutImports(standalone.default(ajv, ajv.compile(split(schema))));
  // ajv copies all errors so far for each part that has one.
  return `${code.replaceAll('vErrors.concat(', 'append(vErrors, ')}\n${String(append)}\n`;
}

function append(all: unknown[], more: readonly unknown[]): unknown[] {
  for (const each of more) all.push(each);
  return all;
}

/**
 * Checks values against a JSON Schema (2020-12) and leaves every difference in its `errors`, those of a union by branch.
 * Throws Error when ajv cannot compile the schema.
 */
export function compileSchema(schema: object): ValidateFunction {
  return openAjv().compile(split(schema));
}

/**
 * The text of a module that exports as `validate` whether a value is a JSON Schema of 2020-12, as ajv itself finds where formats are
 * ignored, and imports nothing.
 */
export function toMetaSchemaModule(): string {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { source: true, esm: true } });
  const validate = ajv.getSchema('https://json-schema.org/draft/2020-12/schema');
  if (validate === undefined) throw new Error('ajv does not bring the meta-schema of 2020-12');
  return withoutImports(standalone.default(ajv, validate));
}

function withoutImports(code: string): string {
  const inlined = code
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', String(ucs2length.default))
    .replaceAll('require("ajv/dist/runtime/equal").default', `(${String(equalModule.default)})`);
  const [asked] = /require\([^)]*\)/.exec(inlined) ?? [];
  if (asked !== undefined) throw new Error(`a validator asks for ${asked}, which is nowhere when it runs`);
  return toAscii(inlined);
}

function openAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strictTypes: false,
    strictRequired: false,
    // The meta-schema has unions of its own, whose errors nobody could read.
    validateSchema: false,
    code: { source: true, esm: true },
  });
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword(unionKeyword(keyword));
  }
  return ajv;
}

/** `anyOf` or `oneOf` whose one error holds the errors of each branch: the reader chooses which are worth telling. */
function unionKeyword(keyword: 'anyOf' | 'oneOf'): CodeKeywordDefinition {
  return {
    keyword,
    schemaType: 'array',
    trackErrors: true,
    error: {
      message: keyword === 'anyOf' ? 'fits none of the allowed forms' : 'does not fit one of the allowed forms',
      params: ({ schema, params: { failures, passed } }) =>
        _`{ failures: ${failures}, passed: ${passed}, choices: ${stringify(requiredKeys(schema))} }`,
    },
    code(context) {
      const { gen, schema, errsCount } = context;
      const passed = gen.let('passed', 0);
      const failures = gen.let('failures', _`[]`);
      context.setParams({ failures, passed });
      for (const index of schema.keys()) {
        const isValid = gen.name('valid');
        context.subschema({ keyword, schemaProp: index, compositeRule: true }, isValid);
        const onFailure = () => {
          gen.code(_`${failures}.push(${errorsSoFar}.slice(${errsCount}))`);
          context.reset();
        };
        gen.if(isValid, () => gen.code(_`${passed}++`), onFailure);
      }
      context.pass(keyword === 'anyOf' ? _`${passed} > 0` : _`${passed} === 1`);
    },
  };
}

/** What ajv calls the errors in the code that it makes. */
const errorsSoFar = new Name('vErrors');

/** The keys that one branch or another asks for. */
function requiredKeys(branches: readonly { readonly required?: readonly string[] }[]): string[] {
  return branches.flatMap(({ required }) => required ?? []);
}
