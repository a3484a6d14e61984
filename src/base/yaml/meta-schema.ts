import type { ValidateFunction } from 'ajv';
import { loadBuilt } from './built.ts';

/** What the file of the meta-schema's validator is called. */
export const metaSchemaName = 'json-schema-2020-12';

/** Whether a value is a schema of JSON Schema 2020-12, formats aside; `npm run build` compiled what tells it, which ajv would do anew at each start. */
export function isSchema202012(value: unknown): boolean {
  validate ??= loadBuilt<{ readonly validate: ValidateFunction }>(
    `#validators/${metaSchemaName}.js`,
  ).validate;
  return validate(value) === true;
}

let validate: ValidateFunction | undefined;
