import type { AnswerDetails } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import type { Note } from '../dialect.ts';
import type { HookQuestion } from './hook-question.ts';
import { type ReplyObject, textAt } from './reply-object.ts';

/** The context texts and metadata of a reply, and the notes on its system message. */
export function extrasOf(
  { rule }: HookQuestion,
  { body, specific }: ReplyObject,
): { readonly beside: Pick<AnswerDetails, 'metadata' | 'context'>; readonly notes: readonly Note[] } {
  const message = textAt(body, 'systemMessage');
  const terminalSequence = body.get('terminalSequence');
  const records = Object.keys(rule.records ?? {}).flatMap((key): [string, Json][] => {
    const value = specific?.get(key);
    return value === undefined ? [] : [[key, value]];
  });
  const recorded = {
    ...(message !== '' && { system_message: message }),
    ...(terminalSequence && { terminalSequence: terminalSequence }),
    ...Object.fromEntries(records),
  };
  const context = [
    rule.takesContext === true ? textAt(specific, 'additionalContext') : '',
    rule.takesSystemMessageAsContext === true ? message : '',
  ].filter((text) => text.trim() !== '');
  return {
    beside: { metadata: Json.from(recorded), context },
    notes: message === '' ? [] : [{ level: 'warn', message }],
  };
}
