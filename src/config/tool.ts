import { isObject } from '../base/json/json.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual } from '../base/yaml/fields.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';
import { choiceAt, entriesAt, millisecondsAt, schemaAt, valueAt } from '../base/yaml/read.ts';
import { milliseconds } from '../dialects/dialect-config.ts';
import { foreignDialects, foreignNames, toolDialects } from '../dialects/registry.ts';
import type { FlowControl } from '../process/process-config.ts';
import { approvalSchema } from './approval.ts';
import { findSchemaFault, whyToolRefused } from './build/refused.ts';
import { type ExecConfig, readExec, toolDialect, toolExecSchema } from './exec.ts';

const toolCategories = [
  'memory',
  'fs_read',
  'fs_write',
  'shell',
  'network',
  'index',
  'flow',
  'vfs',
  'plugin',
  'mcp',
  'synthesised',
  'eval',
] as const;

function describe(key: string, text: string): string {
  const remarks = foreignNames.flatMap((name) => foreignDialects[name].entry.toolRemarks?.[key] ?? []);
  return [text, ...remarks].join(' ');
}

export const toolSchema = {
  type: ['object', 'null'],
  description: 'A tool. Without `exec` it is listed, but a call of it fails.',
  additionalProperties: false,
  properties: {
    description: { type: 'string', [usual]: '', description: 'What the tool does; the model reads it.' },
    input_schema: {
      type: ['object', 'boolean'],
      [read]: readSchema,
      description:
        'JSON Schema (2020-12, or draft-07 by its `$schema`) of the arguments, checked before the process starts.',
    },
    output_schema: {
      type: ['object', 'boolean'],
      [read]: readSchema,
      description: 'JSON Schema of the result, checked before the caller receives it.',
    },
    timeout_ms: {
      ...milliseconds,
      [read]: null,
      description: 'The timeout of `exec`, if that sets none of its own.',
    },
    exec: { ...toolExecSchema, [read]: readToolExec },
    dialect: { ...toolDialect, [read]: null, description: 'The same as `exec.dialect`.' },
    approval: approvalSchema,
    idempotent: {
      type: 'boolean',
      description:
        'Whether an interrupted call may be repeated. true: yes, and the tool receives an idempotency_key. false: only if a person says so. Default: yes.',
    },
    title: { type: 'string', minLength: 1, description: 'A name of the tool for people.' },
    annotations: {
      type: 'object',
      description: 'What MCP clients learn about the effects of a call. Absent: the config does not say.',
      additionalProperties: false,
      properties: {
        read_only: { type: 'boolean', description: 'Whether a call changes nothing.' },
        destructive: { type: 'boolean', description: 'Whether a call may delete or overwrite something.' },
        idempotent: {
          type: 'boolean',
          description:
            'Whether a second call with the same arguments changes nothing more. Default: false if the tool is `idempotent: false`, else absent.',
        },
        open_world: {
          type: 'boolean',
          description: 'Whether a call reaches things that the tool does not own, such as the web.',
        },
      },
    },
    mcp: {
      type: 'object',
      description: 'How an MCP server offers the tool.',
      additionalProperties: false,
      properties: {
        result: {
          type: 'string',
          enum: ['content'],
          description:
            'content: the result is a tool result of MCP, `{content: [blocks], structuredContent?, isError?}`; output_schema applies to structuredContent. Default: any JSON value.',
        },
        task: {
          type: 'string',
          enum: ['allowed', 'required'],
          description: 'Whether a client may, or must, run the call as a task. Default: neither.',
        },
      },
    },
    category: {
      type: 'string',
      enum: toolCategories,
      description: describe('category', 'What kind of work the tool does.'),
    },
    aliases: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      description: describe('aliases', 'Names that other systems have for the tool, as in [Bash].'),
    },
    mode: {
      type: 'string',
      [read]: null,
      description: 'PromptKit’s word for how the tool runs; with `exec` it must be exec.',
    },
    name: {
      type: 'string',
      [read]: null,
      description: 'PromptKit’s own name of the tool; Signalbox uses the key instead.',
    },
    mock_result: { description: 'PromptKit’s fixed answer. Not used.' },
    mock_template: { description: 'PromptKit’s template for an answer. Not used.' },
    mock_parts: { description: 'PromptKit’s fixed multimodal answer. Not used.' },
    http: { description: 'PromptKit’s HTTP binding. Not used.' },
    client: { description: 'PromptKit’s client-side binding. Not used.' },
  },
} as const;

/** Without `exec`, the tool is listed but its calls fail. */
export interface ToolConfig extends Fields<typeof toolSchema.properties> {
  readonly name: string;
  /** Runs alone, after the other calls of its response. */
  readonly isExclusive?: boolean;
  /** Set for a flow control tool, which starts no process. */
  readonly flow?: FlowControl;
  readonly position: SourceLocation;
}

export function readTools(document: YamlDocument): ToolConfig[] {
  return entriesAt(document, ['spec', 'tools']).map(({ name, path }) => ({
    name,
    ...readFields(document, path, toolSchema.properties),
    position: document.keyPositionOf(path),
  }));
}

function readSchema(
  document: YamlDocument,
  path: Path,
): Readonly<Record<string, unknown>> | boolean | undefined {
  return findSchemaFault(document, path) === undefined ? schemaAt(document, path) : undefined;
}

/** `dialect` and `timeout_ms` may be set on the tool or on its `exec`. */
function readToolExec(document: YamlDocument, path: Path): ExecConfig | undefined {
  if (!isObject(valueAt(document, path))) return undefined;
  const tool = path.slice(0, -1);
  const dialects = [path, tool].map((place) => choiceAt(document, [...place, 'dialect'], toolDialects));
  return {
    ...readExec(document, path, {
      refused: whyToolRefused(document, tool),
      timeoutMs: millisecondsAt(document, [...tool, 'timeout_ms']),
    }),
    dialect: dialects.find((dialect) => dialect !== undefined) ?? 'promptkit',
  };
}
