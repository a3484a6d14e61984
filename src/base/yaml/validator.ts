import { basename } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { loadBuilt } from './built.ts';

/**
 * The validator of one of this package's own JSON Schemas, which `npm run build` compiled; loaded on first use. Throws
 * INTERNAL when the schema has changed since, or is none that is compiled.
 */
export function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const { validate } = loadBuilt<ValidatorModule>(
    `#validators/${isSource ? fingerprint(schema) : nameOf(schema)}.js`,
  );
  validators.set(schema, validate);
  return validate;
}

/** The built package has the validators of its own schemas alone, so that a name tells them; the source may have changed. */
const isSource = import.meta.url.endsWith('.ts');

/** What the file of a schema's validator is called, short of taking a digest: the last part of its `$id`, if it has one. */
export function nameOf(schema: object): string {
  return '$id' in schema ? basename(String(schema.$id), '.schema.json') : fingerprint(schema);
}

/**
 * A digest of everything that the schema says, 16 hex digits. It tells our own schemas apart, and protects from nobody: to load
 * Node's cryptography takes longer than most checks.
 */
export function fingerprint(schema: object): string {
  const text = JSON.stringify(schema);
  return [0x01000193, 0x9e3779b1].map((factor) => hash32(text, factor)).join('');
}

/** As FNV-1a does it, by UTF-16 units. */
function hash32(text: string, factor: number): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), factor);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

interface ValidatorModule {
  readonly validate: ValidateFunction;
}

const validators = new WeakMap<object, ValidateFunction>();
