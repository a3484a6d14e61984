import type { ChatMessage } from '../../../contract/provider.ts';
import type { ToolCallMember } from '../../../models/messages/rebuilt.ts';
import { costOf, readOpenAiUsage, writeMessages } from '../bodies.ts';
import type { TokenUsage, WireAnswer, WireRules } from '../codec.ts';
import { readOpenAiError } from '../error-body.ts';
import { bodySpot, type Edits, openStrictly, type Place } from '../place.ts';
import { invalidAnswer } from '../refusal.ts';
import { type RewriteOptions, rewrite } from '../rewrite.ts';
import { describe, describeCall, Seen, textOfArgs } from '../seen.ts';
import { walk } from '../walk.ts';
import { answerShape } from './shapes.ts';

/** Reads a response of `POST /v1/chat/completions`. Throws RefusedCall (502). */
export function readChatAnswer(body: string, rules: WireRules): WireAnswer {
  const place = openStrictly(body, (problem) => invalidAnswer(`its body ${problem}`));
  if (place.at('choices') === undefined && place.at('error') !== undefined) return readOpenAiError(body);
  const { choices, usage } = readChoices(place, rules);
  return {
    body,
    messages: choices.map(({ told }) => told),
    usage,
    toolCalls: choices.flatMap(({ seen }, choice) =>
      seen.calls
        .map(describeCall)
        .map(({ id, name, args }, index) => ({ callId: id, name, args, choice, index })),
    ),
    write: (changed) =>
      writeMessages(
        body,
        choices.map(({ told, seen }) => ({
          told,
          write: (message, edits) => {
            const held = seen.place.at('message');
            if (held !== undefined)
              writeAssistant({ told, seen, place: held }, message, edits, { isAnswer: true });
            return message;
          },
        })),
        changed,
        (written) => readChoices(written, rules).choices.map(({ told }) => told),
      ),
  };
}

interface ReadChoice {
  readonly told: ChatMessage;
  readonly seen: Seen;
}

function readChoices(
  place: Place,
  rules: WireRules,
): { readonly choices: readonly ReadChoice[]; readonly usage: TokenUsage | undefined } {
  const list = place.at('choices');
  if (list?.kind !== 'array' || list.items.length === 0) throw invalidAnswer('it has no `choices`');
  for (const [index, choice] of list.items.entries())
    if (choice.at('message')?.kind !== 'object') throw invalidAnswer(`choices[${index}] has no message`);
  const body = new Seen(place);
  walk(bodySpot(place), answerShape, { rules, isAnswer: true, at: '' }, body);
  // Members beside `choices` appear with the first choice.
  body.messages[0]?.other.addFirst(body.other, 'body');
  const usage = readOpenAiUsage(place.at('usage'));
  const choices = body.messages.map((seen) => ({
    seen,
    told: { ...describe(seen, 'assistant'), ...costOf(usage) },
  }));
  return { choices, usage };
}

export interface SentAssistant extends ReadChoice {
  readonly place: Place;
}

/** Throws REPLY_MALFORMED. */
export function writeAssistant(
  { told, seen, place }: SentAssistant,
  changed: ChatMessage,
  edits: Edits,
  { isAnswer }: Pick<RewriteOptions, 'isAnswer'>,
): void {
  const list = place.at('tool_calls');
  const put = (key: string, value: unknown) => {
    const json = JSON.stringify(value);
    const old = place.at(key);
    if (old === undefined) edits.addMember(place, key, json);
    else edits.replace(old, json);
  };
  const added: string[] = [];
  const plain = rewrite(seen, told, changed, edits, {
    isAnswer,
    add: {
      text: (text) => put('content', text),
      reasoning: (text) => put('reasoning', text),
      refusal: (text) => put('refusal', text),
      call: (call) => added.push(newCall(call)),
    },
  });
  const calls = Array.isArray(plain['tool_calls']) ? plain['tool_calls'].length : 0;
  if (added.length > 0) {
    if (list?.kind === 'array') for (const json of added) edits.insert(list, json);
    else if (list !== undefined) edits.replace(list, `[${added.join(',')}]`);
    else edits.addMember(place, 'tool_calls', `[${added.join(',')}]`);
  } else if (calls === 0 && list !== undefined && list.items.length > 0) edits.remove(place, 'tool_calls');
}

function newCall({ id, name, args }: ToolCallMember): string {
  return JSON.stringify({ id, type: 'function', function: { name, arguments: textOfArgs(args) } });
}
