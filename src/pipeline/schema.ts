import type { ErrorObject, ValidateFunction } from 'ajv';
import { compileDataSchema } from '../config/data-schema.ts';
import { toRuntimeError } from '../errors.ts';

/** Says what is wrong with a value, violation by violation; empty when it fits. Never throws. */
export type Check = (value: unknown) => readonly string[];

/** The check of a tool's JSON Schema; what cannot be checked does not fit. */
export function compileSchema(schema: Readonly<Record<string, unknown>> | boolean | undefined): Check {
  if (schema === undefined) return () => [];
  let validate: ValidateFunction | undefined;
  return (value) => {
    try {
      // Compiled on first use: a config may declare many tools, and a run may call one.
      validate ??= compileDataSchema(schema);
      return validate(value) ? [] : (validate.errors ?? []).map(describe);
    } catch (error) {
      // Such as a value that is nested too deeply for a schema that refers to itself.
      return [`it cannot be checked: ${toRuntimeError(error).message}`];
    }
  };
}

function describe({ instancePath, message, params, keyword }: ErrorObject): string {
  const where = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}: `;
  const more =
    keyword === 'additionalProperties' && 'additionalProperty' in params
      ? ` (${String(params['additionalProperty'])})`
      : keyword === 'enum' && 'allowedValues' in params
        ? ` (${JSON.stringify(params['allowedValues'])})`
        : '';
  return `${where}${message ?? keyword}${more}`;
}
