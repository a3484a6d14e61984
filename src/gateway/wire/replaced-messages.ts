import { canonicalJson, isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { alignMessages, plainMessage } from '../../models/messages/rebuilt.ts';
import { unwritable } from './refusal.ts';

export interface ReplacedMessage {
  readonly message: ChatMessage;
  readonly index: number | undefined;
  readonly isSame: boolean;
}

/** Matches the messages that hooks returned to the sent ones. Ignores hooks' own marks (`meta`). */
export function alignReplaced(
  sent: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ReplacedMessage[] {
  const shorter = Math.min(sent.length, replaced.length);
  let head = 0;
  while (head < shorter && isSame(sent[head], replaced[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(sent.at(-1 - tail), replaced.at(-1 - tail))) tail += 1;
  const aligned = alignMiddle(
    sent.slice(head, sent.length - tail),
    replaced.slice(head, replaced.length - tail),
  );
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

function alignMiddle(sent: readonly ChatMessage[], replaced: readonly ChatMessage[]) {
  const isPaired =
    sent.length === replaced.length && sent.every((message, index) => isOfKind(message, replaced[index]));
  if (!isPaired) return alignMessages(sent.map(withoutMarks), replaced.map(withoutMarks));
  return replaced.map((message, index) => ({ index, isSame: isSame(sent[index], message) }));
}

function isOfKind(sent: ChatMessage, replaced: ChatMessage | undefined): boolean {
  return sent.role === replaced?.role && callOf(sent) === callOf(replaced);
}

function callOf({ tool_result: result }: ChatMessage): unknown {
  const value: unknown = result instanceof Json ? result.value : result;
  return isObject(value) ? value['id'] : undefined;
}

export function isSameMessage(sent: ChatMessage, replaced: ChatMessage): boolean {
  if (sent === replaced) return true;
  const mayBeSame = sent.role === replaced.role && sent.content === replaced.content;
  return mayBeSame && isSameToTheDigit(withoutMarks(sent), withoutMarks(replaced));
}

/** Returns plain values without marks. Numbers keep their digits. */
export function plainReplaced(message: ChatMessage): Readonly<Record<string, unknown>> {
  return plainMessage(withoutMarks(message));
}

function isSame(sent: ChatMessage | undefined, replaced: ChatMessage | undefined): boolean {
  return sent !== undefined && replaced !== undefined && isSameMessage(sent, replaced);
}

function withoutMarks(message: ChatMessage): ChatMessage {
  if (!Object.hasOwn(message, 'meta')) return message;
  const { meta: _, ...rest } = message;
  // A rest type loses members that are known by name.
  return { ...rest, role: message.role, content: message.content };
}

const figures = new Set(['meta', 'cost_info', 'finish_reason', 'other']);

/** Throws REPLY_MALFORMED unless the body, read again, contains exactly the hooks' messages. */
export function requireTold(read: readonly ChatMessage[], wanted: readonly ChatMessage[]): void {
  const isExact =
    read.length === wanted.length &&
    read.every((message, index) => {
      const other = wanted[index];
      return other !== undefined && tells(essence(message), essence(other));
    });
  if (!isExact) throw unwritable('a change of a hook cannot be written into the body exactly');
}

type PlainObject = Readonly<Record<string, unknown>>;

/** Removes parts that only repeat the text, and from tool results the name and the error text, which are derived. */
function essence(message: ChatMessage): PlainObject {
  const plain = withoutTextParts(plainMessage(message));
  const { tool_result: result } = plain;
  if (!isObject(result)) return plain;
  const { latency_ms: _, name: __, error, ...rest } = withoutTextParts(result);
  return { ...plain, tool_result: { ...rest, isError: error !== undefined && error !== null } };
}

function withoutTextParts(holder: PlainObject): PlainObject {
  const { parts, ...rest } = holder;
  const isText =
    Array.isArray(parts) && parts.every((part: unknown) => isObject(part) && part['type'] === 'text');
  return isText ? rest : holder;
}

function tells(read: PlainObject, wanted: PlainObject): boolean {
  const keys = new Set([...Object.keys(read), ...Object.keys(wanted)].filter((key) => !figures.has(key)));
  const isSaid = [...keys].every((key) => isSameMember(read[key], wanted[key]));
  const allowed = new Set(membersOf(wanted['other']));
  return isSaid && membersOf(read['other']).every((member) => allowed.has(member));
}

/** Indexes are ignored, because they shift when an earlier entry is removed. */
function membersOf(other: unknown): string[] {
  return Object.entries(isObject(other) ? other : {}).map(
    ([path, value]) => `${path.replaceAll(/\[\d+\]/g, '[]')}:${canonicalJson(value)}`,
  );
}

function isSameMember(read: unknown, wanted: unknown): boolean {
  return isNothing(read) ? isNothing(wanted) : isSameToTheDigit(read, wanted);
}

export function isNothing(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** The pieces always join to the changed text. Unchanged parts are kept wherever they can be recognized. */
export function splitChangedText(parts: readonly string[], changed: string): string[] {
  let head = 0;
  let from = 0;
  while (head < parts.length && changed.startsWith(parts[head] ?? '', from)) {
    from += parts[head]?.length ?? 0;
    head += 1;
  }
  let tail = parts.length;
  let to = changed.length;
  while (
    tail > head &&
    to - (parts[tail - 1]?.length ?? 0) >= from &&
    endsAt(changed, parts[tail - 1] ?? '', to)
  ) {
    tail -= 1;
    to -= parts[tail]?.length ?? 0;
  }
  const middle = splitMiddle(parts.slice(head, tail), changed.slice(from, to));
  const split = [...parts.slice(0, head), ...middle, ...parts.slice(tail)];
  if (tail > head || from === to) return split;
  // All parts are unchanged, and text was added between two of them.
  const at = Math.max(0, head - 1);
  return split.map((part, index) => (index === at ? part + changed.slice(from, to) : part));
}

function endsAt(text: string, part: string, end: number): boolean {
  return text.startsWith(part, end - part.length);
}

function splitMiddle(parts: readonly string[], changed: string): string[] {
  const split: string[] = [];
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    const end = next === undefined ? changed.length : findBoundary(part, next, changed, from);
    split.push(changed.slice(from, end));
    from = end;
  }
  return split;
}

function findBoundary(part: string, next: string, changed: string, from: number): number {
  if (part !== '' && changed.startsWith(part, from)) return from + part.length;
  for (const width of [64, 24, 12, 6, 3]) {
    const left = part.slice(-width);
    const both = changed.indexOf(left + next.slice(0, width), from);
    if (both !== -1) return both + left.length;
  }
  for (const width of [16, 8, 4]) {
    const right = next.slice(0, width);
    const before = right.length < width && width > 4 ? -1 : changed.indexOf(right, from);
    if (right !== '' && before !== -1) return before;
    const left = part.slice(-width);
    const behind = left.length < width && width > 4 ? -1 : changed.indexOf(left, from);
    if (left !== '' && behind !== -1) return behind + left.length;
  }
  return changed.length;
}
