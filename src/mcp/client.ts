import { createHash } from 'node:crypto';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { isObject } from '../base/json/json.ts';
import type { Principal } from '../runtime/runtime.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Who sends a request, and what the client declares that it can do. */
export interface McpClient {
  /** The name of the key or token; of the user of this machine if there is none. */
  readonly name: string;
  /** The caller, and the session if the client says one. Calls of one principal are the same if their arguments are. */
  readonly principal: string;
  readonly hasTasks: boolean;
  /** Whether the client can show a form to a person. It does not prove that a person is there. */
  readonly hasForms: boolean;
  /** Whether the client can show a person a link, and open it if the person agrees. */
  readonly hasLinks: boolean;
  /** Whether the client answers a question by calling again (2026), instead of while its call waits (2025). */
  readonly asksAgain: boolean;
}

/** The user of this machine over stdio, with the ID that the user has over HTTP on loopback. */
export const LOCAL_USER = 'local';

export function clientOf(
  server: Pick<Server, 'getClientCapabilities'>,
  { http, mcpReq: { envelope, _meta } }: ServerContext,
  session: string | undefined,
): McpClient {
  const declared = toObject(envelope)['io.modelcontextprotocol/clientCapabilities'];
  const { extensions, elicitation } = toObject(declared ?? server.getClientCapabilities());
  const { clientId: id = LOCAL_USER, extra } = http?.authInfo ?? {};
  const caller = extra?.['caller'] as Principal | undefined;
  return {
    name: caller?.name ?? LOCAL_USER,
    principal: principalOf(id, _meta, session),
    asksAgain: envelope !== undefined,
    hasTasks: isObject(toObject(extensions)[tasksExtension]),
    // Before `form` and `url` there was only the form, declared as {}.
    hasLinks: isObject(elicitation) && 'url' in elicitation,
    hasForms: isObject(elicitation) && ('form' in elicitation || !('url' in elicitation)),
  };
}

/** `session`: the session of the agent that started this process, if it says one. */
export function principalOf(id: string, meta: unknown, session: string | undefined): string {
  // Codex names its session in each call. It separates the sessions of one caller, and proves nothing.
  const named = toObject(meta)['sessionId'];
  const own = typeof named === 'string' && named !== '' ? toVisible(named) : session;
  return own === undefined ? id : JSON.stringify([id, own]);
}

/**
 * The model's own id of the call: the client repeats it with a request that got no answer. A model that calls again
 * gives a new one.
 */
export function callIdOf(meta: unknown): string | undefined {
  const { 'claudecode/toolUseId': toolUseId, callId } = toObject(meta);
  const id = [toolUseId, callId].find((given) => typeof given === 'string' && given !== '');
  return typeof id === 'string' ? id : undefined;
}

/** People see the session beside the call that they decide about, and each of its calls stores it. */
function toVisible(session: string): string {
  if (/^[\x20-\x7e]{1,200}$/.test(session)) return session;
  return `sha256:${createHash('sha256').update(session).digest('hex')}`;
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
