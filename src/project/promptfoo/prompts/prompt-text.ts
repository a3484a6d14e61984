import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import { leaveOut, type PromptPlace, type UnnumberedPrompt } from './prompt-model.ts';

/** The prompt of a text, which may be a conversation as JSON. */
export function promptOfText(
  template: string,
  label: string,
  place: PromptPlace,
): readonly UnnumberedPrompt[] {
  const start = template.trimStart();
  const value = /^[[{"]/.test(start) ? tryParse(template) : undefined;
  if (Array.isArray(value) && value.some((each) => isObject(each) && 'role' in each))
    return promptOfMessages(value, label, place);
  const common = { label, source: label, at: place.at };
  if (value !== undefined) return [{ ...common, body: { kind: 'whole', template, isJson: true } }];
  if (/^(?:\[|\{%|- role:|\{(?![{#]))/.test(start))
    return [{ ...common, body: { kind: 'whole', template, isJson: false } }];
  const messages = [{ role: 'user', content: template }];
  return [{ ...common, body: { kind: 'messages', messages, isText: true } }];
}

/** The prompt of a list of messages, each with a text. */
export function promptOfMessages(
  list: readonly unknown[],
  label: string,
  place: PromptPlace,
): readonly UnnumberedPrompt[] {
  const messages = list.flatMap((each) => {
    if (!isObject(each)) return [];
    const { role, content } = each;
    return typeof role === 'string' && typeof content === 'string' ? [{ role, content }] : [];
  });
  if (messages.length < list.length || list.length === 0)
    return leaveOut(place, 'a prompt with messages that hold more than texts is left out');
  if (!messages.every(({ role }) => knownRoles.includes(role)))
    return leaveOut(
      place,
      'a prompt with messages of other roles than system, user and assistant is left out',
    );
  return [{ label, source: label, at: place.at, body: { kind: 'messages', messages, isText: false } }];
}

/** The roles of messages that a chat has. */
export const knownRoles: readonly string[] = ['system', 'user', 'assistant'];
