import type { ErrorObject } from 'ajv';
import { validatorOf } from '../../base/yaml/validator.ts';

/** Says what is wrong with a value, each time as `name.member what`; empty when it has the shape. */
export type Shape = (name: string, value: unknown) => string[];

/** The shape check of one of our JSON Schemas; its validator is loaded on first use. */
export function createShape(schema: object): Shape {
  return (name, value) => {
    const validate = validatorOf(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(describe).map((what) => `${name}${what}`);
  };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const unexpected = 'additionalProperty' in params ? ` (${params['additionalProperty']})` : '';
  return `${instancePath.replaceAll('/', '.')} ${message ?? ''}${unexpected}`;
}
