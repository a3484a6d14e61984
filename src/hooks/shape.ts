import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Says what is wrong with a value, each time as `name.member what`; empty when it has the shape. */
export type Shape = (name: string, value: unknown) => string[];

const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false });

/** The shape check of a JSON Schema; compiled on first use. */
export function createShape(schema: object): Shape {
  let validate: ValidateFunction | undefined;
  return (name, value) => {
    validate ??= ajv.compile(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(describe).map((what) => `${name}${what}`);
  };
}

function describe({
  instancePath,
  message,
  params,
}: NonNullable<ValidateFunction['errors']>[number]): string {
  const unexpected = 'additionalProperty' in params ? ` (${params['additionalProperty']})` : '';
  return `${instancePath.replaceAll('/', '.')} ${message ?? ''}${unexpected}`;
}
