import { BlockList, isIP } from 'node:net';
import { isObject, Json } from '../../base/json/json.ts';
import type { EventPhase, HookEvent, ToolHookRequest } from '../../contract/hook.ts';
import type { Payload } from '../foreign-dialect.ts';
import { pathArgumentOf } from '../payload-table.ts';
import type { PointName } from './points.ts';

const pointsOf: Readonly<Partial<Record<EventPhase, readonly PointName[]>>> = {
  session_start: ['on_start'],
  session_end: ['on_end'],
  prompt: ['pre_message'],
  system_prompt: ['pre_system_prompt', 'post_system_prompt'],
  tool_list: ['pre_api_tools'],
  request: ['pre_api_request'],
  loop: ['pre_agentic_loop'],
  before_execution: ['pre_tool'],
  after_execution: ['pre_tool_output'],
  blocked: ['pre_tool_output'],
  finished: ['post_tool_output'],
  returned: ['post_tool'],
  batch: ['post_tool_batch'],
  answered: ['post_message'],
};

/** The points that a pipeline event reaches, in the order of chibi's turn. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  if (event.phase === 'approval') {
    // A hook's ask is answered by a person, not by approvers.
    const permission = event.asked === null ? permissionFor(event.request) : undefined;
    return permission === undefined ? [] : [permission.point];
  }
  return event.phase === 'returned' && event.isFlow ? [] : (pointsOf[event.phase] ?? []);
}

interface Permission {
  readonly point: PointName;
  readonly payload: Payload;
}

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

export function describePermission(payload: Payload): string {
  const { tool_name, command, path, url, reason, summary } = payload;
  const why = reason === undefined ? '' : ` (${textOf(reason)})`;
  const details = [command, path, url, summary].find((each) => each !== undefined);
  return `${textOf(tool_name)}: ${textOf(details)}${why}`;
}

type ToolArguments = Readonly<Record<string, unknown>>;

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

/**
 * Why a URL is sensitive, in chibi's words, or undefined. Checks the host as written, without a DNS lookup. Source:
 * docs/hooks.md, pre_fetch_url.
 */
export function sensitivityOf(url: string): string | undefined {
  const host = hostOf(url);
  if (host === undefined) return 'could not parse URL';
  if (host === 'localhost' || host.endsWith('.localhost')) return ranges.loopback.reason;
  const version = isIP(host);
  if (version === 0) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return Object.values(ranges).find(({ block }) => block().check(host, family))?.reason;
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === '' ? undefined : host.toLowerCase();
}

/** The first range that contains the address counts. 0.0.0.0 reaches the machine itself. */
const ranges = {
  metadata: range('cloud metadata endpoint', ['169.254.169.254/32']),
  loopback: range('loopback address', ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128']),
  linkLocal: range('link-local address', ['169.254.0.0/16', 'fe80::/10']),
  private: range('private network address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']),
};

/** The list is built for the first URL, because building it would delay every command. */
function range(reason: string, networks: readonly string[]) {
  let made: BlockList | undefined;
  const block = () => {
    made ??= blockListOf(networks);
    return made;
  };
  return { reason, block };
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix = ''] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
