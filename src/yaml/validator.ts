import { hash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import { loadBuilt } from './built.ts';

/**
 * The validator of one of this package's own JSON Schemas, which `npm run build` compiled; loaded on first use. Throws
 * INTERNAL when the schema has changed since, or is none that is compiled.
 */
export function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const { validate } = loadBuilt<ValidatorModule>(`#validators/${fingerprint(schema)}.js`);
  validators.set(schema, validate);
  return validate;
}

/** What the file of a schema's validator is called: a digest of everything that the schema says. */
export function fingerprint(schema: object): string {
  return hash('sha256', JSON.stringify(schema)).slice(0, 16);
}

interface ValidatorModule {
  readonly validate: ValidateFunction;
}

const validators = new WeakMap<object, ValidateFunction>();
