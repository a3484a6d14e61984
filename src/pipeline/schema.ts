import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Says what is wrong with a value, violation by violation; empty when it fits. */
export type Check = (value: unknown) => readonly string[];

/** Compiles a JSON Schema of a tool (draft-07 if `$schema` says so, else 2020-12). Throws what ajv throws. */
export function compileSchema(schema: Readonly<Record<string, unknown>> | boolean | undefined): Check {
  if (schema === undefined) return () => [];
  let validate: ValidateFunction | undefined;
  return (value) => {
    // Compiled on first use: a config may declare many tools, and a run may call one.
    validate ??= compile(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(describe);
  };
}

function compile(schema: Readonly<Record<string, unknown>> | boolean): ValidateFunction {
  const options = { allErrors: true, strict: false, logger: false } as const;
  const isDraft07 = typeof schema === 'object' && String(schema['$schema'] ?? '').includes('draft-07');
  return (isDraft07 ? new Ajv(options) : new Ajv2020(options)).compile(schema);
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
