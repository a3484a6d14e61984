import { isObject } from '../../base/json/json.ts';
import { isSchema202012 } from '../../base/yaml/meta-schema.ts';

/**
 * Whether a schema can be compiled for certain: it fits the meta-schema of 2020-12, and has no keyword but those that refer to
 * nothing and are no code. False says nothing. ajv need not be loaded to know that such a schema can be used.
 */
export function isPlainSchema(schema: Readonly<Record<string, unknown>>): boolean {
  return hasPlainKeywords(schema) && isSchema202012(schema);
}

function hasPlainKeywords(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (plain.has(keyword)) return true;
    if (keyword === 'items' || keyword === 'additionalProperties') return hasPlainKeywords(value);
    if (keyword === 'properties') return isObject(value) && Object.values(value).every(hasPlainKeywords);
    // Not more than the meta-schema asks, but ajv refuses an empty one.
    return keyword === 'enum' && Array.isArray(value) && value.length > 0;
  });
}

const plain: ReadonlySet<string> = new Set(
  `title description default examples deprecated readOnly writeOnly type const required minProperties maxProperties
    minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum`.split(/\s+/),
);
