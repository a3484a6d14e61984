import type { ToolConfig } from '../../config/config.ts';
import { isObject } from '../../json/json.ts';
import type { Path } from '../../yaml/document.ts';
import type { Finding } from '../../yaml/finding.ts';
import { compileSchema } from '../../yaml/schema-check.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { PipelineRuntime } from './validate-names.ts';
import type { StepNode } from './validate-tree.ts';

/** Arguments of tool steps that no input can make fit the tool's `input_schema`. */
export function findWrongArgs(
  steps: readonly StepNode[],
  runtime: PipelineRuntime | undefined,
): readonly Finding[] {
  return steps.flatMap(({ value, path }) => {
    const tool = runtime?.tools.find(({ name }) => name === value['tool']);
    const args = value['args'] ?? {};
    const schema = tool?.inputSchema;
    return schema === undefined || !isObject(args) ? [] : findArgFindings(args, schema, [...path, 'args']);
  });
}

type Args = Readonly<Record<string, unknown>>;

function findArgFindings(
  args: Args,
  schema: NonNullable<ToolConfig['inputSchema']>,
  path: Path,
): readonly Finding[] {
  const keys = isObject(schema)
    ? [...findMissing(args, schema, path), ...findUnknown(args, schema, path)]
    : [];
  if (keys.length > 0 || JSON.stringify(args).includes('${')) return keys;
  // Nothing is left to be known later.
  return compileSchema(schema)(args).map((violation) => ({
    path,
    message: `does not fit the tool’s input_schema: ${violation}`,
  }));
}

function findMissing(args: Args, schema: Args, path: Path): readonly Finding[] {
  const { required } = schema;
  const missing = (Array.isArray(required) ? required : []).filter(
    (key) => !Object.hasOwn(args, String(key)),
  );
  return missing.map((key) => ({
    path: [...path, String(key)],
    message: 'is required by the tool’s input_schema',
    atKey: true,
  }));
}

function findUnknown(args: Args, schema: Args, path: Path): readonly Finding[] {
  const { properties, additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return [];
  const known = isObject(properties) ? Object.keys(properties) : [];
  return Object.keys(args)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: [...path, key],
      message: 'is not allowed by the tool’s input_schema',
      ...suggest(key, known, 'arguments'),
      atKey: true,
    }));
}
