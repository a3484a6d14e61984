import type { ChatMessage } from '../../../../contract/provider.ts';
import type { Json } from '../../../../json/json.ts';
import { tryParse } from '../../../../json/try-parse.ts';
import type { WireAnswer } from '../../codec.ts';
import { Edits } from '../../edits.ts';
import { invalidAnswer, unwritable } from '../../faults.ts';
import { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import type { Refusal } from '../../refusal.ts';
import { isSameMessage } from '../../replaced-messages.ts';
import { openStrictly } from '../../strict-json.ts';
import { servedText } from '../blocks/describe.ts';
import { collectLeftovers, words } from '../blocks/shapes.ts';

/** The words that the API has for kinds of errors. */
const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'timeout_error',
  'overloaded_error',
  'api_error',
] as const;

/** The body of a refusal: `{"type": "error", "error": {"type", "message"}}`; the code and the rest stand beside. */
export function formatError({ status, code, message, param, details }: Refusal): string {
  return JSON.stringify({
    type: 'error',
    error: {
      type: errorType(status),
      message,
      details: { ...details, error_code: code, ...(param !== undefined && { param }) },
    },
  });
}

function errorType(status: number): (typeof errorTypes)[number] {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 402:
      return 'billing_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 408:
    case 504:
      return 'timeout_error';
    case 429:
      return 'rate_limit_error';
    case 529:
      return 'overloaded_error';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}

const errorShape = {
  members: {
    type: words('error'),
    request_id: 'id',
    error: { members: { type: words(...errorTypes), message: 'text' } },
  },
} as const;

/**
 * An upstream's error of any form: its message is the content, and what is no JSON is all content. Throws RefusedCall (502)
 * for JSON that two readers could read differently.
 */
export function readErrorBody(body: string): WireAnswer {
  if (tryParse(body) === undefined) return errorAnswer(body, body, undefined, ({ content }) => content);
  const root = openStrictly(body, (problem) => invalidAnswer(`its error ${problem}`));
  if (root.kind !== 'object') {
    const content = servedText(root);
    return errorAnswer(body, content, undefined, (given) => JSON.stringify(given.content));
  }
  const text = root.at('error')?.at('message');
  const leftovers = new Leftovers();
  collectLeftovers(root, text?.kind === 'string' ? errorShape : { members: {} }, '', leftovers);
  const write = (given: ChatMessage) => writeKnown(given, { body, text, leftovers });
  return errorAnswer(body, text?.text ?? '', leftovers.json, write);
}

function errorAnswer(
  body: string,
  content: string,
  other: Json | undefined,
  write: (given: ChatMessage) => string,
): WireAnswer {
  const message: ChatMessage = {
    role: 'assistant',
    content,
    finish_reason: 'error',
    ...(other !== undefined && { other }),
  };
  return {
    body,
    messages: [message],
    usage: undefined,
    toolCalls: [],
    write: ([given]) => (given === undefined || isSameMessage(message, given) ? body : write(given)),
  };
}

interface KnownError {
  readonly body: string;
  readonly text: Place | undefined;
  readonly leftovers: Leftovers;
}

function writeKnown(given: ChatMessage, { body, text, leftovers }: KnownError): string {
  const { role: _r, content, other, finish_reason: _f, meta: _m, ...rest } = given;
  if (Object.values(rest).some((value) => value !== undefined && value !== null))
    throw unwritable('an error has no such member');
  const edits = new Edits(body);
  if (text?.kind === 'string') edits.replaceText(text, content);
  else if (content !== '') throw unwritable('an error has no text that could be replaced');
  leftovers.write(other, edits);
  leftovers.dropCopies(edits, true);
  return edits.apply();
}
