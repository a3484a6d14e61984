import type { ChatMessage } from '../../../contract/provider.ts';
import type { AnswerToolCall, TokenUsage, WireAnswer, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidAnswer, unwritable } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import { readOpenAiError } from '../openai-error.ts';
import { readOpenAiUsage } from '../openai-usage.ts';
import { openPlace, type Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import { isSameMessage, requireTold } from '../replaced-messages.ts';
import { openStrictly } from '../strict-json.ts';
import { type ReadChoice, readChoice } from './choice.ts';
import { serviceTiers } from './quiet-members.ts';

/** Reads an answer of `POST /v1/chat/completions`. Throws RefusedCall (502). */
export function readChatAnswer(body: string, rules: WireRules): WireAnswer {
  const place = openStrictly(body, (problem) => invalidAnswer(`its body ${problem}`));
  if (place.at('choices') === undefined && place.at('error') !== undefined) return readOpenAiError(body);
  const { choices, usage } = readChoices(place, rules);
  const messages = choices.map(({ told }) => told);
  return {
    body,
    messages,
    usage,
    toolCalls: choices.flatMap(callsOf),
    write: (changed) => writeAnswer(changed, { body, rules, choices }),
  };
}

interface ReadAnswer {
  readonly choices: readonly ReadChoice[];
  readonly usage: TokenUsage | undefined;
}

function readChoices(place: Place, rules: WireRules): ReadAnswer {
  const list = place.at('choices');
  if (list?.kind !== 'array' || list.items.length === 0) throw invalidAnswer('it has no `choices`');
  const leftovers = new Leftovers();
  leftovers.addMembers(place, toldOf(place), 'body');
  const usage = readOpenAiUsage(place.at('usage'), leftovers, 'body.usage');
  const choices = list.items.map((choice, index) =>
    readChoice(choice, { index, rules, usage, rest: index === 0 ? leftovers : undefined }),
  );
  return { choices, usage };
}

function callsOf({ calls }: ReadChoice, choice: number): AnswerToolCall[] {
  return calls.map(({ id, name, args }, index) => ({ callId: id, name, args, choice, index }));
}

/** The members beside the choices that are ids, names of models, figures and known words. */
function toldOf(place: Place): ReadonlySet<string> {
  const told = [...place.members].filter(([key, value]) => {
    if (value.kind === 'null') return quietMembers.has(key);
    switch (key) {
      case 'choices':
        return true;
      case 'usage':
        return value.kind === 'object';
      case 'created':
        return value.kind === 'number';
      case 'id':
      case 'model':
      case 'system_fingerprint':
        return isPlainId(value.text ?? ' ');
      case 'object':
        return value.text === 'chat.completion';
      case 'service_tier':
        return serviceTiers.has(value.text ?? '');
      default:
        return false;
    }
  });
  return new Set(told.map(([key]) => key));
}

const quietMembers = new Set([
  'usage',
  'system_fingerprint',
  'service_tier',
  'metadata',
  'moderation',
  'created',
  'id',
]);

interface SentAnswer {
  readonly body: string;
  readonly rules: WireRules;
  readonly choices: readonly ReadChoice[];
}

/** The answer with hooks' changes; it is read again, so that nothing leaves which says anything else than they want. */
function writeAnswer(changed: readonly ChatMessage[], { body, rules, choices }: SentAnswer): string {
  if (changed.length !== choices.length) throw unwritable('the number of choices has changed');
  const edits = new Edits(body);
  let isChanged = false;
  for (const [index, { told, write }] of choices.entries()) {
    const message = changed[index];
    if (message === undefined || isSameMessage(told, message)) continue;
    if (message.role !== 'assistant') throw unwritable('a replaced answer has another role than assistant');
    write(message, edits);
    isChanged = true;
  }
  if (!isChanged) return body;
  const written = apply(edits);
  requireTold(readAgain(written, rules), changed);
  return written;
}

function apply(edits: Edits): string {
  try {
    return edits.apply();
  } catch {
    throw unwritable('two changes of a hook are about the same place of the body');
  }
}

function readAgain(written: string, rules: WireRules): ChatMessage[] {
  try {
    return readChoices(openPlace(written), rules).choices.map(({ told }) => told);
  } catch {
    throw unwritable('what a hook has changed cannot be written into the body exactly');
  }
}
