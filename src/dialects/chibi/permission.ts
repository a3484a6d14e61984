import type { ToolHookRequest } from '../../contract/hook.ts';
import { isObject, Json } from '../../json/json.ts';
import type { Payload } from '../foreign.ts';
import type { PointName } from './points.ts';
import { judgeUrl } from './url.ts';

/** What is asked before a tool does its kind of work. */
export interface Permission {
  readonly point: PointName;
  readonly payload: Payload;
}

/** What plugins may deny of this call; undefined when chibi asks nobody. */
export function permissionOf({ name, args, category }: ToolHookRequest): Permission | undefined {
  const { value } = Json.from(args);
  const given = isObject(value) ? value : {};
  switch (category) {
    case 'fs_read':
    case 'fs_write': {
      const path = fileOf(given);
      if (path === undefined) return undefined;
      if (category === 'fs_read') return { point: 'pre_file_read', payload: { tool_name: name, path } };
      return { point: 'pre_file_write', payload: { tool_name: name, path, ...writingOf(given) } };
    }
    case 'shell':
      return { point: 'pre_shell_exec', payload: { tool_name: name, command: textOf(given['command']) } };
    case 'network':
      return networkOf(name, given);
    default:
      return undefined;
  }
}

/** One line for the person who decides: what the tool is about to do. */
export function tellPermission(payload: Payload): string {
  const { tool_name, command, path, url, reason, summary } = payload;
  const why = reason === undefined ? '' : ` (${textOf(reason)})`;
  const details = [command, path, url, summary].find((each) => each !== undefined);
  return `${textOf(tool_name)}: ${textOf(details)}${why}`;
}

type Given = Readonly<Record<string, unknown>>;

/** A path of chibi's virtual files, or none at all, needs no permission; one that is no text does. */
function fileOf(given: Given): string | undefined {
  const path = textOf(pathAmong(given));
  return path === '' || path.startsWith('vfs://') ? undefined : path;
}

/** The path among a tool's arguments, whatever its type; tools written for Claude Code name it `file_path`. */
export function pathAmong({ path, file_path }: Given): unknown {
  return path === undefined || path === null || path === '' ? file_path : path;
}

function writingOf({ content, operation }: Given): Payload {
  return {
    content: content === undefined || content === null ? null : textOf(content),
    ...(typeof operation === 'string' && { operation }),
  };
}

function networkOf(tool_name: string, given: Given): Permission | undefined {
  const { url } = given;
  if (typeof url !== 'string' || url === '') {
    return { point: 'pre_fetch_url', payload: { tool_name, summary: summaryOf(given), safety: 'no_url' } };
  }
  const reason = judgeUrl(url);
  if (reason === undefined) return undefined;
  return { point: 'pre_fetch_url', payload: { tool_name, url, safety: 'sensitive', reason } };
}

/** The arguments that are no lists or objects, in their order. */
function summaryOf(given: Given): string {
  return Object.values(given)
    .filter((value) => typeof value !== 'object')
    .map(String)
    .join(' ');
}

function textOf(value: unknown): string {
  const { value: plain, text } = Json.from(value ?? '');
  return typeof plain === 'string' ? plain : text;
}
