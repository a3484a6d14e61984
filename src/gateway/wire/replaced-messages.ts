import type { ChatMessage } from '../../contract/provider.ts';
import { isSameToTheDigit } from '../../json/equal.ts';
import { isObject } from '../../json/json.ts';
import { alignMessages } from '../../provider/messages/message-alignment.ts';
import { plainMessage } from '../../provider/messages/plain-json.ts';

/** A message that hooks gave back: which of those that they were sent it stands for, if any. */
export interface ReplacedMessage {
  readonly message: ChatMessage;
  /** Undefined: a new one. */
  readonly index: number | undefined;
  /** Whether it is that message, so that its text in the body stays. */
  readonly isSame: boolean;
}

/** Finds for each message that hooks gave back the one that it stands for. Hooks' own marks (`meta`) do not count. */
export function alignReplaced(
  sent: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ReplacedMessage[] {
  const shorter = Math.min(sent.length, replaced.length);
  let head = 0;
  while (head < shorter && isSame(sent[head], replaced[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(sent.at(-1 - tail), replaced.at(-1 - tail))) tail += 1;
  const middle = replaced.slice(head, replaced.length - tail).map(withoutMarks);
  const aligned = alignMessages(sent.slice(head, sent.length - tail).map(withoutMarks), middle);
  return replaced.map((message, at) => {
    if (at < head) return { message, index: at, isSame: true };
    const fromEnd = replaced.length - at;
    if (fromEnd <= tail) return { message, index: sent.length - fromEnd, isSame: true };
    const found = aligned[at - head];
    return found === undefined
      ? { message, index: undefined, isSame: false }
      : { message, index: head + found.index, isSame: found.isSame };
  });
}

/** Whether two messages say the same. */
export function isSameMessage(sent: ChatMessage, replaced: ChatMessage): boolean {
  return sent === replaced || isSameToTheDigit(withoutMarks(sent), withoutMarks(replaced));
}

/** A message that hooks gave back, as plain values that keep their digits, without their marks. */
export function plainReplaced(message: ChatMessage): Readonly<Record<string, unknown>> {
  return plainMessage(withoutMarks(message));
}

/** The members of a replaced message whose values are absent or null count as left out. */
export function isLeftOut(value: unknown): value is null | undefined {
  return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

function isSame(sent: ChatMessage | undefined, replaced: ChatMessage | undefined): boolean {
  return sent !== undefined && replaced !== undefined && isSameMessage(sent, replaced);
}

function withoutMarks(message: ChatMessage): ChatMessage {
  if (!Object.hasOwn(message, 'meta')) return message;
  const { meta: _, ...rest } = message;
  // A rest type forgets the members that are known by name.
  return { ...rest, role: message.role, content: message.content };
}
