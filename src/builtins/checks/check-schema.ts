import type { Check } from './check.ts';

/** Returns the JSON Schema of the check's params, the same object each time. */
export function schemaOf(check: Check): object {
  const known = schemas.get(check);
  if (known !== undefined) return known;
  const properties = Object.entries(check.params).map(([name, spec]) => [name, spec.schema]);
  const schema = { type: 'object', properties: Object.fromEntries(properties) };
  schemas.set(check, schema);
  return schema;
}

const schemas = new WeakMap<Check, object>();
