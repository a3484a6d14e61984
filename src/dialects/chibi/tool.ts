import { isUtf8 } from 'node:buffer';
import type { Message, Reply } from '../../contract/exchange.ts';
import { ok, type ToolCall, type ToolOutcome } from '../../contract/tool.ts';
import { Json } from '../../json/json.ts';
import { exitError, malformed } from '../body.ts';
import { type Codec, type Decoded, decoded } from '../dialect.ts';
import { retiredVariables } from './encode.ts';
import { sortJson } from './sorted-json.ts';

/** Tools: the arguments alone on stdin, the result is stdout as it is. Source: docs/plugins.md. */
export const tool: Codec<ToolCall, ToolOutcome> = { encode, decode };

function encode({ name, args }: ToolCall): Message {
  return {
    method: name,
    body: sortJson(args.text),
    terminator: '',
    env: { ...retiredVariables, CHIBI_TOOL_NAME: name, CHIBI_HOOK: undefined },
  };
}

function decode(reply: Reply): Decoded<ToolOutcome> {
  if (reply.via === 'rpc') throw malformed('a chibi plugin is started anew for each call');
  const { exitCode, signal, stdout } = reply;
  if (exitCode !== 0 || signal !== null) throw exitError(reply, 'Tool execution failed or was cancelled');
  if (!isUtf8(stdout)) throw malformed('stdout is not UTF-8', 'Write UTF-8 to stdout.');
  return decoded(ok(Json.from(Buffer.from(stdout).toString())));
}
