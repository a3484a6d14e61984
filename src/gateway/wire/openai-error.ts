import type { ChatMessage } from '../../contract/provider.ts';
import type { WireAnswer } from './codec.ts';
import { Edits } from './edits.ts';
import { invalidAnswer, unwritable } from './faults.ts';
import { Leftovers } from './leftovers.ts';
import { openPlace, type Place } from './place.ts';
import type { Refusal } from './refusal.ts';
import { isSameMessage, plainReplaced, requireTold } from './replaced-messages.ts';
import { type JsonProblem, openStrictly } from './strict-json.ts';

/** The body of a refusal as APIs of OpenAI spell it: `{"error": {"message", "type", "param", "code"}}`. */
export function formatOpenAiError({ status, code, message, param, details }: Refusal): string {
  return JSON.stringify({ error: { ...details, message, type: typeOf(status), param: param ?? null, code } });
}

/** The `type` of an error of that HTTP status. */
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

/**
 * An upstream's error body as an answer: its text is `content`, all else `other`. What is no JSON is a text as a whole. Throws
 * RefusedCall (502) for JSON that two readers could read differently.
 */
export function readOpenAiError(body: string): WireAnswer {
  const place = open(body);
  if (place === undefined) return plainError(body);
  const read = readError(place);
  return {
    body,
    messages: [read.told],
    usage: undefined,
    toolCalls: [],
    write: ([changed]) => {
      if (changed === undefined) throw unwritable('the message of an error is missing');
      if (isSameMessage(read.told, changed)) return body;
      const edits = new Edits(body);
      read.write(changed, edits);
      const written = edits.apply();
      requireTold([readError(openPlace(written)).told], [changed]);
      return written;
    },
  };
}

/** Undefined: no JSON. */
function open(body: string): Place | undefined {
  let problem: JsonProblem | undefined;
  try {
    return openStrictly(body, (found) => {
      problem = found;
      return invalidAnswer(`its body ${found}`);
    });
  } catch (error) {
    if (problem === 'is not JSON') return undefined;
    throw error;
  }
}

function plainError(body: string): WireAnswer {
  const told: ChatMessage = { role: 'assistant', content: body, finish_reason: 'error' };
  return {
    body,
    messages: [told],
    usage: undefined,
    toolCalls: [],
    write: ([changed]) => {
      if (changed === undefined) throw unwritable('the message of an error is missing');
      if (isSameMessage(told, changed)) return body;
      requireTold([{ role: 'assistant', content: changed.content }], [changed]);
      return changed.content;
    },
  };
}

function readError(place: Place) {
  const leftovers = new Leftovers();
  const text = messageOf(place);
  if (place.kind === 'object') addRest(place, text, leftovers);
  else if (place !== text) leftovers.add('body', { place, owner: place, entry: 'body' });
  const other = leftovers.json;
  const told: ChatMessage = {
    role: 'assistant',
    content: text?.text ?? '',
    finish_reason: 'error',
    ...(other && { other }),
  };
  return {
    told,
    write: (changed: ChatMessage, edits: Edits) => {
      if (text === undefined && changed.content !== '')
        throw unwritable('an error without a text has got one');
      if (text !== undefined) edits.replaceText(text, changed.content);
      leftovers.write(plainReplaced(changed)['other'], edits);
    },
  };
}

/** Where the text of an error stands, in the forms that servers have. */
function messageOf(place: Place): Place | undefined {
  const error = place.at('error');
  const found = [error?.at('message'), error, place.at('message'), place.at('detail'), place];
  return found.find((candidate) => candidate?.kind === 'string');
}

function addRest(place: Place, text: Place | undefined, leftovers: Leftovers): void {
  const error = place.at('error');
  const isInside = error?.kind === 'object' && error.at('message') === text && text !== undefined;
  const toldKeys = [...place.members].filter(([, value]) => value === text || (isInside && value === error));
  leftovers.addMembers(place, new Set(toldKeys.map(([key]) => key)));
  if (isInside) leftovers.addMembers(error, new Set(['message', ...nullsOf(error)]), 'error');
}

function nullsOf(error: Place): string[] {
  return ['type', 'param', 'code'].filter((key) => error.at(key)?.kind === 'null');
}
