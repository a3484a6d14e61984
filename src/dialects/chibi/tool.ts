import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { scanElements, scanMembers } from '../../base/json/scan.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { ok, type ToolCall, type ToolOutcome } from '../../contract/tool.ts';
import { exitError, malformed } from '../body.ts';
import { type Codec, type Decoded, decoded } from '../dialect.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt, toPlainValue } from '../payload-table.ts';
import type { ChibiSettings } from './points.ts';

/** stdin has the arguments alone, and stdout is the result unchanged. Source: docs/plugins.md. */
export const tool: Codec<ToolCall, ToolOutcome> = { encode: encodeCall, decode };

function encodeCall({ name, args }: ToolCall): Message {
  return {
    method: name,
    body: sortJson(args.text),
    terminator: '',
    env: { ...retiredVariables, CHIBI_TOOL_NAME: name, CHIBI_HOOK: undefined },
  };
}

function decode(reply: Reply): Decoded<ToolOutcome> {
  if (reply.via === 'rpc') throw malformed('a chibi plugin starts anew for each call');
  const { exitCode, signal, stdout } = reply;
  if (exitCode !== 0 || signal !== null) throw exitError(reply, 'Tool execution failed or was cancelled');
  if (!isUtf8(stdout)) throw malformed('stdout is not UTF-8', 'Write UTF-8 to stdout.');
  return decoded(ok(Json.from(Buffer.from(stdout).toString())));
}

const retiredVariables = { CHIBI_TOOL_ARGS: undefined, CHIBI_HOOK_DATA: undefined } as const;

/** Writes the event to stdin without a final newline, and the point to CHIBI_HOOK. Source: docs/hooks.md. */
export function encode(
  { settings }: HookEntry<ChibiSettings>,
  { point, payload, hookContext }: Question,
): Message {
  const context = toPlainValue(payload['context_name'] ?? hookContext.context_name);
  return {
    method: point,
    body: sortJson(stringifyJson(withFolders(point, payload, settings))),
    terminator: '',
    env: {
      ...retiredVariables,
      CHIBI_HOOK: point,
      CHIBI_TOOL_NAME: undefined,
      CHIBI_CONTEXT: (typeof context === 'string' && context) || undefined,
    },
  };
}

function withFolders(point: string, payload: Payload, { chibiHome, projectRoot }: ChibiSettings): Payload {
  switch (point) {
    case 'on_start':
    case 'on_end':
      return { chibi_home: chibiHome, project_root: projectRoot, ...payload };
    case 'pre_file_read':
    case 'pre_file_write':
      return { ...payload, path: resolve(projectRoot, textAt(payload, 'path') ?? '') };
    default:
      return payload;
  }
}

/**
 * Prints JSON like chibi: compact, object keys in byte order, the last of repeated keys. Numbers keep their digits;
 * strings use the fewest escapes.
 */
export function sortJson(text: string): string {
  switch (text[0]) {
    case '{':
      return `{${sortMembers(text)}}`;
    case '[': {
      const elements = scanElements(text);
      return `[${elements.map(({ start, end }) => sortJson(text.slice(start, end))).join(',')}]`;
    }
    case '"':
      return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;
    default:
      return text;
  }
}

function sortMembers(text: string): string {
  const members = new Map<string, string>();
  for (const { key, start, end } of scanMembers(text)) members.set(key, text.slice(start, end));
  return [...members]
    .map(([key, value]) => ({ key, bytes: Buffer.from(key), value }))
    .sort((one, other) => one.bytes.compare(other.bytes))
    .map(({ key, value }) => `${JSON.stringify(key)}:${sortJson(value)}`)
    .join(',');
}

/**
 * Returns whether the arguments have the command-line form `{"args": ["a", "b c"]}`. Only a host may send it, and no
 * `parameters` describe it. For a tool with its own `args` parameter it is an ordinary argument. Source:
 * docs/plugins.md.
 */
export function isCommandLineForm({ value }: Json, parameters: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== 'args' || !isStringList(value['args'])) return false;
  const { properties } = isObject(parameters) ? parameters : {};
  return !isObject(properties) || !Object.hasOwn(properties, 'args');
}

function isStringList(list: unknown): boolean {
  return Array.isArray(list) && list.every((text) => typeof text === 'string');
}
