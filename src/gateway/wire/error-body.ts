import type { ChatMessage } from '../../contract/provider.ts';
import type { WireAnswer, WireRules } from './codec.ts';
import { Edits } from './edits.ts';
import { invalidAnswer, unwritable } from './faults.ts';
import { bodySpot, openPlace, type Place } from './place.ts';
import { isSameMessage, requireTold } from './replaced-messages.ts';
import { rewrite } from './rewrite.ts';
import { describe, Seen } from './seen.ts';
import type { Shape } from './shape.ts';
import { type JsonProblem, openStrictly } from './strict-json.ts';
import { walk } from './walk.ts';

/**
 * Reads an upstream's error body as an answer: its text is `content`, all else `other`. What is no JSON is a text as a whole. Throws
 * RefusedCall (502) for JSON that two readers could read differently.
 */
export function readErrorBody(body: string, shape: Shape): WireAnswer {
  const place = open(body);
  const read = place && readError(place, shape);
  const message = read?.message ?? { role: 'assistant', content: body, finish_reason: 'error' };
  return {
    body,
    messages: [message],
    usage: undefined,
    toolCalls: [],
    write: ([changed]) => {
      if (changed === undefined) throw unwritable('the message of an error is missing');
      if (isSameMessage(message, changed)) return body;
      if (read === undefined) {
        requireTold([{ role: 'assistant', content: changed.content }], [changed]);
        return changed.content;
      }
      const edits = new Edits(body);
      const wanted = rewrite(read.seen, message, changed, edits, { isAnswer: true });
      const written = edits.apply();
      requireTold([readError(openPlace(written), shape).message], [wanted]);
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
