import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import type { ToolConfig } from '../../config/config.ts';
import type { PipelineRuntime } from './validate-names.ts';
import type { StepNode } from './validate-scope.ts';

export function findWrongArgs(
  steps: readonly StepNode[],
  runtime: PipelineRuntime | undefined,
): readonly Finding[] {
  const schemas = new Map<unknown, ToolConfig['inputSchema']>(
    runtime?.tools.map(({ name, inputSchema }) => [name, inputSchema]),
  );
  return steps.flatMap(({ kind, value, path }) => {
    if (kind !== 'tool') return [];
    const args = value['args'] ?? {};
    const schema = schemas.get(value['tool']);
    const place = { path: [...path, 'args'], owner: 'the tool’s input_schema' };
    return schema === undefined || !isObject(args) ? [] : findMisfits(args, schema, place);
  });
}

type Members = Readonly<Record<string, unknown>>;

interface Place {
  readonly path: Path;
  readonly owner: string;
  /** Whether members without expressions are checked on their own. Default: only if no member has one. */
  readonly isEach?: true;
}

export function findMisfits(
  members: Members,
  schema: NonNullable<ToolConfig['inputSchema']>,
  place: Place,
): readonly Finding[] {
  const keys = isObject(schema)
    ? [...findMissing(members, schema, place), ...findUnknown(members, schema, place)]
    : [];
  if (keys.length > 0) return keys;
  if (hasExpression(members))
    return isObject(schema) && place.isEach ? findWrongMembers(members, schema, place) : [];
  return compileSchema(schema)(members).map((violation) => ({
    path: place.path,
    message: `does not fit ${place.owner}: ${violation}`,
  }));
}

function hasExpression(value: unknown): boolean {
  return JSON.stringify(value).includes('${');
}

/** Checks members without expressions, unless their schema has a `$ref`. */
function findWrongMembers(
  members: Members,
  { properties }: Members,
  { path, owner }: Place,
): readonly Finding[] {
  if (!isObject(properties)) return [];
  return Object.entries(members).flatMap(([key, member]) => {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!isObject(schema) || hasExpression(member) || JSON.stringify(schema).includes('"$ref"')) return [];
    return compileSchema(schema)(member).map((violation) => ({
      path: [...path, key],
      message: `does not fit ${owner}: ${violation}`,
    }));
  });
}

function findMissing(members: Members, schema: Members, { path, owner }: Place): readonly Finding[] {
  const { required } = schema;
  const missing = (Array.isArray(required) ? required : []).filter(
    (key) => !Object.hasOwn(members, String(key)),
  );
  return missing.map((key) => ({
    path: [...path, String(key)],
    message: `is required by ${owner}`,
    hint: `Write \`${String(key)}: …\` below \`${String(path.at(-1))}\`.`,
    atKey: true,
  }));
}

function findUnknown(members: Members, schema: Members, { path, owner }: Place): readonly Finding[] {
  const { properties, additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return [];
  const known = isObject(properties) ? Object.keys(properties) : [];
  return Object.keys(members)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: [...path, key],
      message: `is not allowed by ${owner}`,
      ...suggest(key, known, 'arguments'),
      atKey: true,
    }));
}
