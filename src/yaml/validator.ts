import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { RuntimeError } from '../errors.ts';

const load = createRequire(import.meta.url);
const loaded = new WeakMap<object, ValidateFunction>();

/**
 * The validator of one of this package's own JSON Schemas, which `npm run build` compiled; loaded on first use. Throws
 * INTERNAL when the schema has changed since, or is none that is compiled.
 */
export function validatorOf(schema: object): ValidateFunction {
  const validate = loaded.get(schema) ?? loadValidator(fingerprint(schema));
  loaded.set(schema, validate);
  return validate;
}

/** What the file of a schema's validator is called: a digest of everything that the schema says. */
export function fingerprint(schema: object): string {
  return hash('sha256', JSON.stringify(schema)).slice(0, 16);
}

function loadValidator(name: string): ValidateFunction {
  try {
    const { validate }: { validate: ValidateFunction } = load(`#validators/${name}.js`);
    return validate;
  } catch (cause) {
    throw new RuntimeError(
      'INTERNAL',
      `dist/validators/${name}.js, the validator of a schema, cannot be loaded`,
      {
        hint: 'Run `npm run build`; it compiles the schemas that are listed in schema/validators.ts.',
        cause,
      },
    );
  }
}
