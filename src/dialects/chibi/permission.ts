import type { ToolHookRequest } from '../../contract/hook.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign-dialect.ts';
import { pathArgumentOf } from '../tool-path.ts';
import type { PointName } from './points.ts';
import { sensitivityOf } from './sensitive-url.ts';

/** The permission point for a tool call, and its payload. */
export interface Permission {
  readonly point: PointName;
  readonly payload: Payload;
}

/** The permission that the call needs by its category; undefined when chibi asks for none. */
export function permissionFor({ name, args, category }: ToolHookRequest): Permission | undefined {
  const { value } = Json.from(args);
  const toolArguments = isObject(value) ? value : {};
  switch (category) {
    case 'fs_read':
    case 'fs_write': {
      const path = guardedPathOf(toolArguments);
      if (path === undefined) return undefined;
      if (category === 'fs_read') return { point: 'pre_file_read', payload: { tool_name: name, path } };
      return { point: 'pre_file_write', payload: { tool_name: name, path, ...writeMembers(toolArguments) } };
    }
    case 'shell':
      return {
        point: 'pre_shell_exec',
        payload: { tool_name: name, command: textOf(toolArguments['command']) },
      };
    case 'network':
      return networkPermission(name, toolArguments);
    default:
      return undefined;
  }
}

/** One line for the person who decides: what the tool is about to do. */
export function describePermission(payload: Payload): string {
  const { tool_name, command, path, url, reason, summary } = payload;
  const why = reason === undefined ? '' : ` (${textOf(reason)})`;
  const details = [command, path, url, summary].find((each) => each !== undefined);
  return `${textOf(tool_name)}: ${textOf(details)}${why}`;
}

type ToolArguments = Readonly<Record<string, unknown>>;

/** The path that needs permission; undefined for an empty one and for chibi's virtual files (`vfs://`). */
function guardedPathOf(toolArguments: ToolArguments): string | undefined {
  const path = textOf(pathArgumentOf(toolArguments));
  return path === '' || path.startsWith('vfs://') ? undefined : path;
}

function writeMembers({ content, operation }: ToolArguments): Payload {
  return {
    content: content === undefined || content === null ? null : textOf(content),
    ...(typeof operation === 'string' && { operation }),
  };
}

function networkPermission(tool_name: string, toolArguments: ToolArguments): Permission | undefined {
  const { url } = toolArguments;
  if (typeof url !== 'string' || url === '') {
    return {
      point: 'pre_fetch_url',
      payload: { tool_name, summary: summaryOf(toolArguments), safety: 'no_url' },
    };
  }
  const reason = sensitivityOf(url);
  if (reason === undefined) return undefined;
  return { point: 'pre_fetch_url', payload: { tool_name, url, safety: 'sensitive', reason } };
}

/** The arguments that are no lists or objects, in their order. */
function summaryOf(toolArguments: ToolArguments): string {
  return Object.values(toolArguments)
    .filter((value) => typeof value !== 'object')
    .map(String)
    .join(' ');
}

function textOf(value: unknown): string {
  const { value: plain, text } = Json.from(value ?? '');
  return typeof plain === 'string' ? plain : text;
}
