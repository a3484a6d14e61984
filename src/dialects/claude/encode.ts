import { isAbsolute, join } from 'node:path';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import type { Message } from '../../contract/exchange.ts';
import type { Answer } from '../../contract/hook.ts';
import type { Decoded } from '../dialect.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import { takesPath } from './condition.ts';
import type { ClaudeSettings } from './config/settings.ts';

/** The one JSON object that a handler reads. Source: hooks reference, "Common input fields". */
export function encode(
  { cwd }: HookEntry<ClaudeSettings>,
  { point, payload, hookContext }: Question,
): Message {
  const common = {
    session_id: hookContext.session_id,
    prompt_id: hookContext.turn_id,
    transcript_path: hookContext.transcript ?? '',
    cwd,
    permission_mode: 'default',
    hook_event_name: point,
    ...fromHost(hookContext.host),
  };
  const payloadCwd = valueAt(payload, 'cwd');
  const folder = typeof payloadCwd === 'string' ? payloadCwd : cwd;
  const body = stringifyJson({ ...common, ...withAbsolutePaths(payload, folder), hook_event_name: point });
  const file = envFileOf({ point, payload, hookContext });
  // Spliced texts may have line breaks between their tokens, and hooks in shell read one line.
  return {
    method: point,
    body: body.replaceAll(/[\r\n]/g, ' '),
    ...(file !== undefined && { env: { CLAUDE_ENV_FILE: file } }),
  };
}

function fromHost(host: Payload): Payload {
  const known = ['effort', 'agent_id', 'agent_type', 'scratchpad_dir'];
  return Object.fromEntries(known.flatMap((key) => (host[key] === undefined ? [] : [[key, host[key]]])));
}

function withAbsolutePaths(payload: Payload, cwd: string): Payload {
  const calls = payload['tool_calls'];
  if (!Array.isArray(calls)) return withAbsolutePath(payload, cwd);
  return {
    ...payload,
    tool_calls: calls.map((call: unknown) => (isObject(call) ? withAbsolutePath(call, cwd) : call)),
  };
}

function withAbsolutePath(call: Payload, cwd: string): Payload {
  const input = call['tool_input'];
  const path = valueAt(input, 'file_path');
  if (!takesPath(call) || typeof path !== 'string' || isAbsolute(path)) return call;
  return { ...call, tool_input: { ...membersOf(Json.from(input)), file_path: join(cwd, path) } };
}

const eventsWithEnvFile: ReadonlySet<string> = new Set([
  'SessionStart',
  'Setup',
  'CwdChanged',
  'FileChanged',
]);

function envFileOf({ point, hookContext }: Question): string | undefined {
  const file = hookContext.host['env_file'];
  return eventsWithEnvFile.has(point) && typeof file === 'string' ? file : undefined;
}

/** Adds the path of the env file to the metadata. The file itself is not executed. */
export function withEnvFile(question: Question, read: Decoded<Answer>): Decoded<Answer> {
  const env_file = envFileOf(question);
  if (env_file === undefined) return read;
  const { output } = read;
  return { ...read, output: { ...output, metadata: Json.from({ ...membersOf(output.metadata), env_file }) } };
}
