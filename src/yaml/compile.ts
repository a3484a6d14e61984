import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isObject } from '../json/json.ts';

/**
 * Compiles a JSON Schema (2020-12) once. `anyOf` and `oneOf` report the errors of the branch that was
 * probably meant, instead of those of all branches; references inside a branch lead into `$defs`. Of a schema
 * without `$defs` each part is compiled when the first value for it comes: most files use few of them.
 */
export function compile(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const validate =
    '$defs' in schema ? newAjv(schema).compile(schema) : sharedCompiler().compile(deferParts(schema));
  compiled.set(schema, validate);
  return validate;
}

function newAjv(root: object): Ajv2020 {
  const ajv = new Ajv2020(options);
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      schemaType: 'array',
      errors: 'full',
      validate: createUnionValidator(root, keyword),
    });
  }
  ajv.addKeyword({
    keyword: 'later',
    schemaType: 'object',
    errors: 'full',
    validate: createDeferredValidator(),
  });
  return ajv;
}

let sharedAjv: Ajv2020 | undefined;

function sharedCompiler(): Ajv2020 {
  sharedAjv ??= newAjv({});
  return sharedAjv;
}

/** The schema with its object subschemas replaced by a keyword that compiles them on first use. */
function deferParts(schema: object): object {
  const { properties, additionalProperties, items } = isObject(schema) ? schema : {};
  const isMap = isObject(properties);
  return {
    ...schema,
    ...(isMap && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, deferPart(part)])),
    }),
    ...(isObject(additionalProperties) && { additionalProperties: deferPart(additionalProperties) }),
    ...(isObject(items) && { items: deferPart(items) }),
  };
}

function deferPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  return isObject(part['properties']) ? { later: part } : deferParts(part);
}

function createDeferredValidator(): KeywordValidator<object> {
  const validateKeyword: KeywordValidator<object> = (part, data, _parent, context) => {
    const validate = compile(part);
    if (validate(data)) return true;
    const at = context?.instancePath ?? '';
    validateKeyword.errors = (validate.errors ?? []).map((error) => ({
      ...error,
      instancePath: at + error.instancePath,
    }));
    return false;
  };
  return validateKeyword;
}

/** `validateSchema` is off: the meta-schema has unions that the validators below do not support. */
const options = {
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  validateSchema: false,
  // A config is checked once: shorter code is not worth the time that it takes to shorten it.
  code: { optimize: false },
} as const;

const compiled = new WeakMap<object, ValidateFunction>();

type Keyword = 'anyOf' | 'oneOf';
interface KeywordValidator<Schema = readonly unknown[]> {
  (schema: Schema, data: unknown, parent: unknown, context?: { instancePath: string }): boolean;
  errors?: ErrorObject[];
}

function createUnionValidator(root: object, keyword: Keyword): KeywordValidator {
  const branchOf = new Map<unknown, object>();
  const validateKeyword: KeywordValidator = (branches, data, _parent, context) => {
    const failures = branches.flatMap((branch) => {
      const schema = branchOf.get(branch) ?? asRoot(branch, root);
      branchOf.set(branch, schema);
      const validate = compile(schema);
      return validate(data) ? [] : [validate.errors ?? []];
    });
    const passed = branches.length - failures.length;
    if (passed === 1 || (passed > 1 && keyword === 'anyOf')) return true;
    const at = context?.instancePath ?? '';
    const errors = passed > 1 ? [unionError(describeAmbiguity(branches))] : chooseBranch(failures);
    validateKeyword.errors = errors.map((error) => ({ ...error, instancePath: at + error.instancePath }));
    return false;
  };
  return validateKeyword;
}

/** A branch as a schema of its own, in which references to the root's definitions still lead somewhere. */
function asRoot(branch: unknown, root: object): object {
  const definitions = isObject(root) && root['$defs'] !== undefined ? { $defs: root['$defs'] } : {};
  if (isObject(branch)) return { ...definitions, ...branch };
  return branch === true ? definitions : { not: {} };
}

/** The errors of the branch that accepts the type of the value and has the fewest errors. */
function chooseBranch(failures: readonly ErrorObject[][]): ErrorObject[] {
  const fitting = failures.filter((errors) => !errors.some((error) => isRootType(error)));
  if (fitting.length === 0) return [wrongType(failures)];
  const required = fitting.map((errors) => (errors.length === 1 ? onlyMissing(errors[0]) : undefined));
  if (required.length > 1 && required.every((key) => key !== undefined)) {
    return [unionError(`needs one of: ${required.join(', ')}`)];
  }
  const choices = fitting.map((errors) => (errors.length === 1 ? onlyChoices(errors[0]) : undefined));
  if (choices.length > 1 && choices.every((list) => list !== undefined)) {
    return [{ ...unionError(''), keyword: 'enum', params: { allowedValues: choices.flat() } }];
  }
  return fitting.reduce((best, errors) => (errors.length < best.length ? errors : best));
}

function isRootType({ keyword, instancePath }: ErrorObject): boolean {
  return keyword === 'type' && instancePath === '';
}

function wrongType(failures: readonly ErrorObject[][]): ErrorObject {
  const types = failures.flatMap((errors) =>
    errors.filter(isRootType).flatMap(({ params }) => params['type']),
  );
  return { ...unionError(''), keyword: 'type', params: { type: [...new Set(types)] } };
}

function onlyMissing(error: ErrorObject | undefined): string | undefined {
  return error?.keyword === 'required' && error.instancePath === ''
    ? String(error.params['missingProperty'])
    : undefined;
}

function onlyChoices(error: ErrorObject | undefined): string[] | undefined {
  if (error?.instancePath !== '') return undefined;
  if (error.keyword === 'const') return [String(error.params['allowedValue'])];
  const allowed: unknown = error.params['allowedValues'];
  return error.keyword === 'enum' && Array.isArray(allowed) ? allowed.map(String) : undefined;
}

function describeAmbiguity(branches: readonly unknown[]): string {
  const keys = branches.flatMap((branch) =>
    isObject(branch) && Array.isArray(branch['required']) ? branch['required'] : [],
  );
  return keys.length > 1
    ? `takes only one of: ${[...new Set(keys)].join(', ')}`
    : 'fits more than one of the allowed forms';
}

function unionError(sentence: string): ErrorObject {
  return { keyword: 'union', instancePath: '', schemaPath: '', params: { sentence } };
}
