import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';
import { rewrite } from '../rewrite.ts';
import { describe, describeBody, type Seen } from '../seen.ts';

const separator = '\n\n';

/** The system prompt: the texts of the system messages at the beginning, joined by an empty line. */
export function joinPrompt(prompt: readonly Seen[]): string {
  return prompt.map(textOf).join(separator);
}

function textOf({ body }: Seen): string {
  return describeBody(body).content;
}

/** Writes a changed system prompt into the messages that it was made of. Throws REPLY_MALFORMED when it cannot be told which. */
export function writePrompt(
  changed: string,
  { list, prompt }: { readonly list: Place; readonly prompt: readonly Seen[] },
  edits: Edits,
): void {
  if (changed === joinPrompt(prompt)) return;
  if (prompt.length === 0) {
    edits.insert(list, JSON.stringify({ role: 'system', content: changed }), 0);
    return;
  }
  if (changed === '') {
    for (const index of prompt.keys()) edits.remove(list, index);
    return;
  }
  const texts = splitPrompt(changed, prompt.map(textOf));
  for (const [index, seen] of prompt.entries()) {
    const sent = describe(seen, 'system');
    const { parts: _, ...plain } = sent;
    const content = texts[index] ?? '';
    if (content === sent.content) continue;
    const add = { text: (text: string) => edits.addMember(seen.place, 'content', JSON.stringify(text)) };
    rewrite(seen, sent, { ...plain, role: 'system', content }, edits, { isAnswer: false, add });
  }
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
