import { RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, type Json, stringifyJson } from '../../base/json/json.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { failed, ok, pending, type ToolCall, type ToolOutcome } from '../../contract/tool.ts';
import type { VolatileFields } from '../../process/cassette/volatile-fields.ts';
import {
  type Body,
  excerpt,
  malformed,
  nonNull,
  noteUnknownKeys,
  readPrinted,
  requireResult,
  toBody,
} from '../body.ts';
import { type Codec, type Decoded, type Dialect, toMessage, toSplicedMessage } from '../dialect.ts';
import { goCase, snakeCase } from './casing.ts';
import { createEvalBatchCodec, createEvalCodec } from './eval.ts';
import { createHookCodec } from './hook.ts';

/** Tools: `{"args"}` in; `{"result"}`, `{"error"}` or `{"pending"}` out. A server's result is the bare value. */
export const toolCodec: Codec<ToolCall, ToolOutcome> = { encode, decode };

function encode({ args, approval, idempotencyKey }: ToolCall): Message {
  if (approval === undefined && idempotencyKey === undefined)
    return toSplicedMessage('{"args":', args.text, '}');
  const key = idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey };
  if (approval === undefined) return toMessage(stringifyJson({ args, ...key }));
  const { id, decision, by, reason } = approval;
  return toMessage(stringifyJson({ args, ...key, approval: { id, decision, by, reason } }));
}

function decode(reply: Reply, call: ToolCall): Decoded<ToolOutcome> {
  if (reply.via === 'rpc') return decodeResult(requireResult(reply), call);
  const body = readPrinted(reply, '{"result": …}');
  const notes = noteUnknownKeys(body, ['result', 'error', 'pending']);
  return { output: readOutcome(body, call), notes };
}

/** Only an object whose one member is a `pending` object asks for a person. Any other value is data. */
function decodeResult(result: Json, call: ToolCall): Decoded<ToolOutcome> {
  // Avoids parsing data that begins with another key.
  if (!/^\s*\{\s*"(?:pending"|[^"]*\\)/.test(result.text)) return { output: ok(result), notes: [] };
  const { value } = result;
  const asks = isObject(value) && Object.keys(value).length === 1 && isObject(value['pending']);
  return { output: asks ? readOutcome(toBody(result), call) : ok(result), notes: [] };
}

function readOutcome(body: Body, call: ToolCall): ToolOutcome {
  const error = nonNull(body.get('error'));
  const pendingMember = nonNull(body.get('pending'));
  const result = body.get('result');
  if (error !== undefined && error.value !== '') {
    if (typeof error.value !== 'string') {
      throw malformed('the reply’s `error` is not a string', undefined, { error: excerpt(error.text) });
    }
    return failed(toFault(new RuntimeError('TOOL_ERROR', error.value)));
  }
  if (pendingMember !== undefined) return readPending(pendingMember, result, call);
  if (result !== undefined) return ok(result);
  const hint = 'Print {"result": …}, {"error": "text"} or {"pending": {…}}.';
  throw malformed('the reply has neither `result`, `error` nor `pending`', hint, {
    text: excerpt(body.json.text),
  });
}

function readPending(given: Json, result: Json | undefined, call: ToolCall): ToolOutcome {
  if (result !== undefined) throw malformed('the reply has both `pending` and `result`');
  if (!isObject(given.value)) throw malformed('the reply’s `pending` is not an object');
  const { reason = '', message = `Tool "${call.name}" asks for a decision.` } = given.value;
  if (typeof reason !== 'string') throw malformed('the reply’s `pending.reason` is not a string');
  if (typeof message !== 'string') throw malformed('the reply’s `pending.message` is not a string');
  return pending(reason, message, given);
}

const session: VolatileFields = {
  session_id: 'drop run ids',
  SessionID: 'drop run ids',
  conversation_id: 'drop run ids',
  ConversationID: 'drop run ids',
};

const payload: VolatileFields = {
  ...session,
  call_id: 'drop',
  CallID: 'drop',
  latency_ms: 'drop',
  LatencyMs: 'drop',
  metadata: session,
  Metadata: session,
};

const context: VolatileFields = { ...session, metadata: { latency_ms: 'drop' } };

const volatileFields: VolatileFields = {
  ...session,
  duration_ms: 'drop',
  idempotency_key: 'drop',
  approval: { id: 'drop' },
  context,
  batch: { each: { context } },
  request: payload,
  response: payload,
  event: session,
};

/** The native dialect, with payload members in snake_case. */
export const promptkit: Dialect = {
  name: 'promptkit',
  tool: toolCodec,
  eval: createEvalCodec(snakeCase),
  evalBatch: createEvalBatchCodec(snakeCase),
  hook: createHookCodec(snakeCase),
  volatileFields,
};

/** The native dialect with payload members as PromptKit's Go program prints them. Replies are the same. */
export const promptkitGo: Dialect = {
  name: 'promptkit-go',
  tool: toolCodec,
  eval: createEvalCodec(goCase),
  evalBatch: createEvalBatchCodec(goCase),
  hook: createHookCodec(goCase),
  volatileFields,
};
