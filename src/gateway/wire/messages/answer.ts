import type { ChatMessage } from '../../../contract/provider.ts';
import { costOf, writeMessages } from '../bodies.ts';
import type { Substitute, TokenUsage, WireAnswer, WireRules } from '../codec.ts';
import { bodySpot, type Edits, numberAt, openStrictly, type Place } from '../place.ts';
import { invalidAnswer, type Refusal } from '../refusal.ts';
import { rewrite } from '../rewrite.ts';
import { describe, describeCall, Seen } from '../seen.ts';
import { walk } from '../walk.ts';
import { answerShape, countShape, type errorTypes } from './shapes.ts';

/** Throws RefusedCall (502). */
export function readMessagesAnswer(body: string, rules: WireRules): WireAnswer {
  const root = openAnswer(body);
  const { seen, message, usage } = readMessage(root, rules);
  return {
    body,
    messages: [message],
    usage,
    toolCalls: seen.calls.flatMap((call, index) => {
      const { id, name, args } = describeCall(call);
      return call.isOfClient ? [{ callId: id, name, args, choice: 0, index }] : [];
    }),
    write: (messages) => {
      const write = (changed: ChatMessage, edits: Edits) =>
        rewrite(seen, message, changed, edits, { isAnswer: true, dropsEmpty: true });
      return writeMessages(body, [{ told: message, write }], messages, (written) => [
        readMessage(written, rules).message,
      ]);
    },
  };
}

function readMessage(root: Place, rules: WireRules) {
  if (root.at('type')?.text !== 'message') throw invalidAnswer('it is not a message');
  if (root.at('content')?.kind !== 'array') throw invalidAnswer('`content` is not a list');
  const seen = new Seen(root);
  walk(bodySpot(root), answerShape, { rules, isAnswer: true, at: '' }, seen);
  const usage = readUsage(root.at('usage'));
  const message: ChatMessage = { ...describe(seen, 'assistant'), ...costOf(usage) };
  return { seen, message, usage };
}

/** Adds cached input, which the API reports separately. */
function readUsage(usage: Place | undefined): TokenUsage | undefined {
  if (usage?.kind !== 'object') return undefined;
  const count = (key: string) => numberAt(usage, key) ?? 0;
  const cachedInput = count('cache_read_input_tokens');
  return {
    input: count('input_tokens') + count('cache_creation_input_tokens') + cachedInput,
    output: count('output_tokens'),
    ...(cachedInput > 0 && { cachedInput }),
  };
}

/** Reads a token count. Hooks see it only if it has other members. */
export function readCount(body: string, rules: WireRules): WireAnswer {
  const read = (root: Place) => {
    const seen = new Seen(root);
    walk(bodySpot(root), countShape, { rules, isAnswer: true, at: '' }, seen);
    return { seen, message: describe(seen, 'assistant') };
  };
  const { seen, message } = read(openAnswer(body));
  const told = seen.isEmpty ? [] : [message];
  return {
    body,
    messages: told,
    usage: undefined,
    toolCalls: [],
    write: (messages) => {
      const parts = told.map(() => ({
        told: message,
        write: (changed: ChatMessage, edits: Edits) =>
          rewrite(seen, message, changed, edits, { isAnswer: true }),
      }));
      return writeMessages(body, parts, messages, (written) => told.map(() => read(written).message));
    },
  };
}

function openAnswer(body: string): Place {
  const root = openStrictly(body, (problem) => invalidAnswer(`it ${problem}`));
  if (root.kind !== 'object') throw invalidAnswer('it is not an object');
  return root;
}

/** The ID shows that no upstream created the message. */
export function formatSubstitute({ text, end }: Substitute, model: string): string {
  const isRefused = end === 'refused';
  return JSON.stringify({
    id: 'msg_signalbox',
    type: 'message',
    role: 'assistant',
    model,
    content: text === '' ? [] : [{ type: 'text', text, citations: null }],
    stop_reason: isRefused ? 'refusal' : 'end_turn',
    stop_sequence: null,
    stop_details: isRefused ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  });
}

/** Formats a refusal: `{"type": "error", "error": {"type", "message", "details"}}`. Code and param are in `details`. */
export function formatError({ status, code, message, param, details }: Refusal): string {
  return JSON.stringify({
    type: 'error',
    error: {
      type: errorTypesByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
      message,
      details: { ...details, error_code: code, ...(param !== undefined && { param }) },
    },
  });
}

const errorTypesByStatus: Readonly<Record<number, (typeof errorTypes)[number]>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
