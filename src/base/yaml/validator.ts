import { basename } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { loadBuilt } from './built.ts';

/** Loads the compiled validator of our own schema. Throws INTERNAL if the schema changed or was not compiled. */
export function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const { validate } = loadBuilt<ValidatorModule>(
    `#validators/${isSource ? fingerprint(schema) : nameOf(schema)}.js`,
  );
  validators.set(schema, validate);
  return validate;
}

/** In the built package, a name identifies a schema; sources may have changed. */
const isSource = import.meta.url.endsWith('.ts');

/** The file name of a schema's validator without its digest: the last part of its `$id`, if any. */
export function nameOf(schema: object): string {
  return '$id' in schema ? basename(String(schema.$id), '.schema.json') : fingerprint(schema);
}

/** 16 hex digits for our own schemas; not a security measure. Loading Node's crypto takes longer than a check. */
export function fingerprint(schema: object): string {
  const text = JSON.stringify(schema);
  return [0x01000193, 0x9e3779b1].map((factor) => hash32(text, factor)).join('');
}

function hash32(text: string, factor: number): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), factor);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

interface ValidatorModule {
  readonly validate: ValidateFunction;
}

const validators = new WeakMap<object, ValidateFunction>();
