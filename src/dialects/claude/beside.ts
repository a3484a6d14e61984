import type { Beside } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import type { Note } from '../dialect.ts';
import type { Asking } from './asking.ts';
import { type Output, textAt } from './output.ts';

/** What an answer says beside its verdict: texts for the model, and what is only put on record. */
export function besideOf(
  { rule }: Asking,
  { body, specific }: Output,
): { readonly beside: Pick<Beside, 'metadata' | 'context'>; readonly notes: readonly Note[] } {
  const message = textAt(body, 'systemMessage');
  const sequence = body.get('terminalSequence');
  const records = Object.keys(rule.records ?? {}).flatMap((key): [string, Json][] => {
    const value = specific?.get(key);
    return value === undefined ? [] : [[key, value]];
  });
  const recorded = {
    ...(message !== '' && { system_message: message }),
    ...(sequence && { terminalSequence: sequence }),
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
