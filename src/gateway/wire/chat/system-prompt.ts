import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';
import type { Content } from './content.ts';

/** The system and developer messages at the beginning of a request. */
export interface SystemPrompt {
  /** Their texts, joined by an empty line. */
  readonly text: string;
  /** How many messages they are. */
  readonly count: number;
}

const separator = '\n\n';

export function joinPrompt(contents: readonly Content[]): SystemPrompt {
  return { text: contents.map(({ text }) => text).join(separator), count: contents.length };
}

/** Writes a changed system prompt into the messages that it was made of. Throws REPLY_MALFORMED when it cannot be told which. */
export function writePrompt(
  changed: string,
  { list, contents }: { readonly list: Place; readonly contents: readonly Content[] },
  edits: Edits,
): void {
  if (changed === joinPrompt(contents).text) return;
  if (contents.length === 0) {
    edits.insert(list, JSON.stringify({ role: 'system', content: changed }), 0);
    return;
  }
  if (changed === '') {
    for (const index of contents.keys()) edits.remove(list, index);
    return;
  }
  const texts = splitPrompt(
    changed,
    contents.map(({ text }) => text),
  );
  for (const [index, content] of contents.entries()) content.write({ content: texts[index] ?? '' }, edits);
}

/** The new text of each message: all separators are those between messages, or one message alone has changed. */
function splitPrompt(changed: string, texts: readonly string[]): readonly string[] {
  const pieces = changed.split(separator);
  if (texts.length === 1) return [changed];
  if (pieces.length === texts.length && texts.every((text) => !text.includes(separator))) return pieces;
  const alone = texts.flatMap((_, index) => {
    const before = texts
      .slice(0, index)
      .map((text) => text + separator)
      .join('');
    const after = texts
      .slice(index + 1)
      .map((text) => separator + text)
      .join('');
    const fits =
      changed.startsWith(before) && changed.endsWith(after) && changed.length >= before.length + after.length;
    return fits ? [texts.with(index, changed.slice(before.length, changed.length - after.length))] : [];
  });
  const [only, another] = alone;
  if (only !== undefined && another === undefined) return only;
  throw unwritable('a replaced `system_prompt` cannot be parted among the system messages of the request');
}
