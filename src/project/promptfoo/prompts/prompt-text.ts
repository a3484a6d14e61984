import { extname } from 'node:path';
import { isObject } from '../../../json/json.ts';
import { tryParse } from '../../../json/try-parse.ts';
import type { Source } from '../../../yaml/source.ts';
import { textOfFile } from '../../suite-import/source-files.ts';
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
    return promptOfMessages(
      place.notes.open(value, () => place.at.location),
      label,
      place,
    );
  const common = { label, source: label, at: place.at };
  if (value !== undefined) return [{ ...common, body: { kind: 'whole', template, isJson: true } }];
  if (/^(?:\[|\{%|- role:|\{(?![{#]))/.test(start))
    return [{ ...common, body: { kind: 'whole', template, isJson: false } }];
  const messages = [{ role: 'user', content: template }];
  return [{ ...common, body: { kind: 'messages', messages, isText: true } }];
}

/** The prompt of a list of messages, each with a text. */
export function promptOfMessages(
  list: Source,
  label: string,
  place: PromptPlace,
): readonly UnnumberedPrompt[] {
  const items = list.items();
  const messages = items.flatMap((each) => {
    const [role, content] = [each.at('role').text(), contentOf(each.at('content'), place)];
    return role !== undefined && content !== undefined ? [{ role, content }] : [];
  });
  if (messages.length < items.length || items.length === 0) {
    list.whole();
    return leaveOut(place, 'a prompt with messages that hold more than texts is left out');
  }
  if (!messages.every(({ role }) => knownRoles.includes(role)))
    return leaveOut(
      place,
      'a prompt with messages of other roles than system, user and assistant is left out',
    );
  return [{ label, source: label, at: place.at, body: { kind: 'messages', messages, isText: false } }];
}

/** A text, which may stand in a file. */
function contentOf(given: Source, { files }: PromptPlace): string | undefined {
  const text = given.text();
  if (text?.startsWith('file://') !== true) return text;
  const found = files.find(text);
  const isText = ['.txt', '.md', '.j2'].includes(extname(text));
  const read = 'fault' in found ? found : isText ? textOfFile(found.file) : { fault: `${text} is no text` };
  if (typeof read === 'string') return read.trim();
  given.leave(read.fault);
  return undefined;
}

/** The roles of messages that a chat has. */
export const knownRoles: readonly string[] = ['system', 'user', 'assistant'];
