import type { ErrorObject } from 'ajv';
import { Json } from '../../../base/json/json.ts';
import { compileDataSchema, type DataValidator } from '../../../base/yaml/data-schema.ts';
import type { Jobs, SchemaResult } from '../bounded/job.ts';

/** Compares a JSON text with a schema without a time limit. Throws if the schema is unusable. */
export function compareWithSchema({ schema, text }: Jobs['schema']): SchemaResult {
  const validate = compileSchema(schema);
  if (validate(new Json(text))) return { violations: [], count: 0 };
  const errors = validate.errors ?? [];
  return { violations: errors.slice(0, MAX_VIOLATIONS).map(formatViolation), count: errors.length };
}

/** Why a schema is unusable; undefined if it is usable. */
export function findSchemaProblem(schema: string): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const remote = /^can't resolve reference (\S+)/.exec(message)?.[1];
    return remote === undefined
      ? `is not a JSON Schema: ${message}`
      : `refers to ${remote}, which it does not contain; Signalbox fetches nothing`;
  }
}

const MAX_VIOLATIONS = 5;

function compileSchema(text: string): DataValidator {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const validate = compileDataSchema(new Json(text), { hasFormats: true });
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(text, validate);
  return validate;
}

const compiled = new Map<string, DataValidator>();
const MAX_CACHED = 100;

function formatViolation({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = instancePath === '' ? 'the whole' : instancePath;
  const key = keyword === 'additionalProperties' ? `: ${String(params['additionalProperty'])}` : '';
  const choices = keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues'])}` : '';
  return `${place} ${message ?? `fails ${keyword}`}${key}${choices}`;
}
