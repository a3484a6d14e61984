import { isUtf8 } from 'node:buffer';
import type { ProcessReply } from '../../contract/exchange.ts';
import type { RuntimeError } from '../../errors.ts';
import { isObject } from '../../json/json.ts';
import { compileDataSchema } from '../../yaml/data-schema.ts';
import { malformed } from '../body.ts';
import { isPoint, type PointName } from './points.ts';

/** One tool of a plugin, with the hook points for which it registers. */
export interface PluginTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; of any object where the plugin gives none. */
  readonly parameters: Readonly<Record<string, unknown>> | boolean;
  readonly hooks: readonly PointName[];
  /** false: runs alone, after the parallel calls of the same response. */
  readonly isParallel: boolean;
  /** Never started: `flowControlResult` has the result. */
  readonly isFlowControl: boolean;
  readonly endsTurn: boolean;
  /** Arguments that tell a person what a call is about. */
  readonly summaryParams: readonly string[];
}

export interface PluginSchema {
  readonly elements: readonly PluginTool[];
  readonly warnings: readonly string[];
}

/** Reads the reply of a plugin that was started with `--schema`. Throws REPLY_MALFORMED. */
export function readSchemaReply(reply: ProcessReply): PluginSchema {
  const { exitCode, signal, stderr, stdout } = reply;
  if (exitCode === 0 && signal === null) return readSchema(stdout, stderr);
  throw schemaError(
    signal === null ? `--schema exited with code ${exitCode}` : `--schema was ended by ${signal}`,
    stderr,
  );
}

/**
 * Reads a plugin's schema: one object for each of its tools, or a list of them. A tool that cannot be used is
 * left out with a warning. Throws REPLY_MALFORMED when none is left. Source: docs/plugins.md.
 */
export function readSchema(stdout: Uint8Array, stderr = ''): PluginSchema {
  const value = parse(stdout, stderr);
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const elements = (Array.isArray(value) ? value : [value]).flatMap((element: unknown, index) => {
    const read = readElement(element, index, warn);
    return read === undefined ? [] : [read];
  });
  if (elements.length > 0) return { elements, warnings };
  throw schemaError(['--schema describes no tool', ...warnings].join('; '), stderr);
}

function parse(stdout: Uint8Array, stderr: string): unknown {
  if (!isUtf8(stdout)) throw schemaError('--schema printed no UTF-8', stderr);
  try {
    return JSON.parse(Buffer.from(stdout).toString());
  } catch {
    throw schemaError('--schema printed something else than one JSON document', stderr);
  }
}

type Warn = (message: string) => void;

function readElement(element: unknown, index: number, warn: Warn): PluginTool | undefined {
  const { name, description, parameters = null } = isObject(element) ? element : {};
  if (typeof name !== 'string' || typeof description !== 'string') {
    warn(`element ${index + 1} has no \`name\` or no \`description\` and is left out`);
    return undefined;
  }
  if (name === '')
    warn(`element ${index + 1} has an empty name: nobody can call it, and only its hooks count`);
  const schema = parameters === null ? { type: 'object' } : parameters;
  const problem = checkSchema(schema);
  if (problem !== undefined || !isSchema(schema)) {
    warn(`tool '${name}' is left out: its \`parameters\` cannot be used: ${problem}`);
    return undefined;
  }
  const members = isObject(element) ? element : {};
  const flag = (key: string, fallback: boolean) => readFlag(members, { key, fallback, name }, warn);
  return {
    name,
    description,
    parameters: schema,
    hooks: readHooks(name, members['hooks'], warn),
    isParallel: flag('parallel', true),
    isFlowControl: flag('flow_control', false),
    endsTurn: flag('ends_turn', false),
    summaryParams: stringsIn(members['summary_params']),
  };
}

function isSchema(schema: unknown): schema is PluginTool['parameters'] {
  return isObject(schema) || typeof schema === 'boolean';
}

function checkSchema(schema: unknown): string | undefined {
  if (!isSchema(schema)) return 'no JSON Schema is written like this';
  try {
    compileDataSchema(schema);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function readHooks(tool: string, hooks: unknown, warn: Warn): PointName[] {
  if (hooks === undefined) return [];
  if (!Array.isArray(hooks)) {
    warn(`the \`hooks\` of tool '${tool}' are no list, so it has none`);
    return [];
  }
  const names = stringsIn(hooks);
  if (names.length < hooks.length) warn(`the \`hooks\` of tool '${tool}' hold something else than names`);
  for (const name of names.filter((each) => !isPoint(each))) warn(`Unknown hook '${name}' in tool '${tool}'`);
  return [...new Set(names.filter(isPoint))];
}

function readFlag(
  members: Readonly<Record<string, unknown>>,
  { key, fallback, name }: { readonly key: string; readonly fallback: boolean; readonly name: string },
  warn: Warn,
): boolean {
  const value = members[key] ?? fallback;
  if (typeof value === 'boolean') return value;
  warn(`the \`${key}\` of tool '${name}' is no boolean and counts as ${fallback}`);
  return fallback;
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function schemaError(problem: string, stderr: string): RuntimeError {
  const line = stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const hint = 'Started with --schema, a plugin prints one JSON object, or a list of them, and exits 0.';
  return malformed(line === '' ? problem : `${problem}: ${line}`, hint, { stderr });
}
