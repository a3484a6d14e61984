import type { ChatMessage } from '../../contract/provider.ts';
import { writeMessages } from './bodies.ts';
import type { WireAnswer, WireRules } from './codec.ts';
import { bodySpot, type Edits, type JsonProblem, openStrictly, type Place } from './place.ts';
import { invalidAnswer, type Refusal } from './refusal.ts';
import { isSameMessage, requireTold } from './replaced-messages.ts';
import { rewrite } from './rewrite.ts';
import { describe, Seen } from './seen.ts';
import { all, type Shape } from './shape.ts';
import { walk } from './walk.ts';

/** The text is `content`, all else `other`; not JSON is one text. Throws RefusedCall (502) for ambiguous JSON. */
export function readErrorBody(body: string, shape: Shape): WireAnswer {
  const place = open(body);
  const read = place && readError(place, shape);
  const message = read?.message ?? { role: 'assistant', content: body, finish_reason: 'error' };
  return {
    body,
    messages: [message],
    usage: undefined,
    toolCalls: [],
    write: (messages) => {
      const [changed = message] = messages;
      if (read === undefined && !isSameMessage(message, changed)) {
        requireTold([{ role: 'assistant', content: changed.content }], [changed]);
        return changed.content;
      }
      const write = (given: ChatMessage, edits: Edits) =>
        read === undefined ? given : rewrite(read.seen, message, given, edits, { isAnswer: true });
      return writeMessages(body, [{ told: message, write }], messages, (written) => [
        readError(written, shape).message,
      ]);
    },
  };
}

function open(body: string): Place | undefined {
  let problem: JsonProblem | undefined;
  try {
    return openStrictly(body, (found) => {
      problem = found;
      return invalidAnswer(`its error ${found}`);
    });
  } catch (error) {
    if (problem === 'is not JSON') return undefined;
    throw error;
  }
}

function readError(place: Place, shape: Shape): { readonly seen: Seen; readonly message: ChatMessage } {
  const seen = new Seen(place);
  if (place.kind === 'object') walk(bodySpot(place), shape, { rules, isAnswer: true, at: '' }, seen);
  else if (place.kind === 'string')
    walk(bodySpot(place), { show: 'text' }, { rules, isAnswer: true, at: '' }, seen);
  else seen.other.add('body', { place, owner: place, entry: 'body' });
  return { seen, message: { ...describe(seen, 'assistant'), finish_reason: 'error' } };
}

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };

/** Formats a refusal as OpenAI's APIs do: `{"error": {"message", "type", "param", "code"}}`. */
export function formatOpenAiError({ status, code, message, param, details }: Refusal): string {
  return JSON.stringify({ error: { ...details, message, type: typeOf(status), param: param ?? null, code } });
}

function typeOf(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 429:
      return 'rate_limit_error';
    default:
      return status >= 500 ? 'server_error' : 'invalid_request_error';
  }
}

export function readOpenAiError(body: string): WireAnswer {
  return readErrorBody(body, errorShape);
}

const text: Shape = { show: 'text' };
const errorShape: Shape = {
  members: {
    error: {
      string: text,
      object: { members: { message: text, ...all('none', 'type', 'param', 'code') } },
      rest: 'other',
    },
    message: text,
    detail: text,
  },
};
