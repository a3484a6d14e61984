import type { ChatMessage } from '../../../contract/provider.ts';
import type { RequestPayload, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import { alignReplaced, plainReplaced, requireTold } from '../replaced-messages.ts';
import { type ReadBody, readBody } from './request-body.ts';
import { writePrompt } from './system-prompt.ts';

type Changed = Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>;

export interface SentRequest {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly body: string;
  readonly rules: WireRules;
  readonly read: ReadBody;
}

/** The body with hooks' changes; it is read again, so that nothing leaves which says anything else than they want. */
export function writeRequest(changed: Changed, { model, body, rules, read }: SentRequest): string {
  const edits = new Edits(body);
  const named = read.place.at('model');
  if (named !== undefined) edits.replaceText(named, model);
  if (isUnchanged(changed, read.payload)) return edits.apply();
  const promptCount = writeMessages(changed, read, edits);
  read.leftovers.write(changed.other, edits, read.place);
  read.tools.write(changed.tools, edits);
  const written = apply(edits);
  const again = readAgain(written, rules, promptCount);
  if (again.system_prompt !== changed.system_prompt) throw inexact();
  requireTold(again.messages, changed.messages);
  return written;
}

function isUnchanged(
  changed: Changed,
  { messages, system_prompt: prompt, other, tools }: RequestPayload,
): boolean {
  const isSame =
    changed.messages === messages ||
    (changed.messages.length === messages.length &&
      changed.messages.every((message, index) => message === messages[index]));
  return isSame && changed.system_prompt === prompt && changed.other === other && changed.tools === tools;
}

/** How many messages at the beginning of the new body are the system prompt. */
function writeMessages(changed: Changed, { list, read, payload }: ReadBody, edits: Edits): number {
  writePrompt(changed.system_prompt, { list, contents: read.prompt }, edits);
  const offset = read.prompt.length;
  let next = 0;
  for (const { message, index, isSame } of alignReplaced(payload.messages, changed.messages)) {
    if (index === undefined) {
      edits.insert(list, newMessage(message), offset + next);
      continue;
    }
    for (; next < index; next += 1) edits.remove(list, offset + next);
    if (!isSame) read.messages[index]?.write(message, edits);
    next = index + 1;
  }
  for (; next < read.messages.length; next += 1) edits.remove(list, offset + next);
  if (changed.system_prompt === payload.system_prompt) return offset;
  if (changed.system_prompt === '') return 0;
  return Math.max(offset, 1);
}

/** A message that was not there before may be a text and nothing else. */
function newMessage(message: ChatMessage): string {
  const plain = plainReplaced(message);
  const { role, content } = message;
  const { parts } = plain;
  const isText = Array.isArray(parts) && parts.every((part: unknown) => isTextPart(part));
  const isPlain = Object.keys(plain).every(
    (key) => key === 'role' || key === 'content' || (key === 'parts' && isText),
  );
  if (role === 'tool' || !isPlain) {
    throw unwritable(
      'a message that a hook has added, or that stands where another was, is not a text alone',
    );
  }
  return JSON.stringify({ role, content });
}

function isTextPart(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'text';
}

function apply(edits: Edits): string {
  try {
    return edits.apply();
  } catch {
    throw unwritable('two changes of a hook are about the same place of the body');
  }
}

function readAgain(written: string, rules: WireRules, promptCount: number): RequestPayload {
  try {
    const place: Place = openPlace(written);
    return readBody(place, rules, promptCount).payload;
  } catch {
    throw inexact();
  }
}

function inexact(): Error {
  return unwritable('what a hook has changed cannot be written into the body exactly');
}
