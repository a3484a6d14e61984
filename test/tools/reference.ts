import { isObject } from '../../src/base/json/json.ts';
import { runtimeSchema } from '../../src/config/schema.ts';
import { pipelineSchema } from '../../src/pipelines/file/schema.ts';
import { suiteSchema } from '../../src/suites/file/schema.ts';

/** docs/reference/config.md, from the schemas: every key with its type and purpose. */
export function renderReference(): string {
  return `# Every key

This page lists every key of a config, a suite and a pipeline. \`npm run schemas\` generates it from the schemas.

In the paths of keys, \`<name>\` stands for a name of your own, and \`[]\` for each element of a list. [runtime.yaml.example](../../runtime.yaml.example) shows the keys of a RuntimeConfig in use. Signalbox accepts PromptKit's other keys without effect, with a warning.

## RuntimeConfig

${renderTable(runtimeSchema)}

## EvalSuite

${renderTable(suiteSchema)}

## Pipeline

${renderTable(pipelineSchema)}

### A step of a pipeline

The keys of an element of every list of steps: \`spec.steps\`, \`parallel\`, \`steps\`, \`else\` and \`on_error.steps\`.

${renderTable(pipelineSchema.$defs.step)}
`;
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function renderTable(schema: object): string {
  const rows = listRows(schema, '').map(({ path, type, text }) => `| \`${path}\` | ${type} | ${text} |`);
  return ['| key | type | what it is for |', '| --- | --- | --- |', ...rows].join('\n');
}

function listRows(schema: unknown, path: string, required = false): Row[] {
  if (!isObject(schema)) return [];
  const own = path === '' ? [] : [toRow(schema, path, required)];
  const needed = Array.isArray(schema['required']) ? schema['required'] : [];
  const members = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const inner = members.flatMap(([key, member]) =>
    listRows(member, path === '' ? key : `${path}.${key}`, needed.includes(key)),
  );
  const named = listNamed(schema['additionalProperties'], `${path}.<name>`);
  const elements = listNamed(schema['items'], `${path}[]`);
  return [...own, ...inner, ...named, ...elements];
}

function listNamed(schema: unknown, path: string): Row[] {
  return isObject(schema) && isObject(schema['properties']) ? listRows(schema, path) : [];
}

function toRow(schema: Readonly<Record<string, unknown>>, path: string, required: boolean): Row {
  const text = typeof schema['description'] === 'string' ? schema['description'] : '';
  const type = required ? `${describeType(schema)}, required` : describeType(schema);
  return { path, type, text: text.replaceAll('|', '\\|') };
}

function describeType(schema: Readonly<Record<string, unknown>>): string {
  const { enum: choices, const: only, type } = schema;
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(', ');
  if (only !== undefined) return `\`${String(only)}\``;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => name !== 'null' && name !== undefined);
  return types.length === 0 ? 'any' : types.join(' or ');
}
