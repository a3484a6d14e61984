import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { type ClientCall, callEntriesOf } from './client-calls.ts';

/** What hooks and people made of a call. */
export type JudgedCall =
  | { readonly kind: 'same'; readonly call: ClientCall }
  | { readonly kind: 'changed'; readonly call: ClientCall; readonly name: string; readonly args: Json }
  /** The client does not get it; the text stands in the answer in its place. */
  | { readonly kind: 'withheld'; readonly call: ClientCall; readonly text: string };

/** The messages with what became of their calls; the very list when all calls stayed as they were. */
export function writeCalls(
  messages: readonly ChatMessage[],
  judged: readonly JudgedCall[],
): readonly ChatMessage[] {
  if (judged.every(({ kind }) => kind === 'same')) return messages;
  return messages.map((message, choice) => {
    const own = judged.filter(({ call, kind }) => call.choice === choice && kind !== 'same');
    return own.length === 0 ? message : writeMessage(message, own);
  });
}

function writeMessage(message: ChatMessage, judged: readonly JudgedCall[]): ChatMessage {
  const byIndex = new Map(judged.map((one) => [one.call.index, one]));
  const calls = callEntriesOf(message).flatMap((entry, index) => {
    const one = byIndex.get(index);
    if (one === undefined || one.kind === 'same') return [entry];
    return one.kind === 'withheld' ? [] : [{ ...entry, name: one.name, args: one.args }];
  });
  const texts = judged.flatMap((one) => (one.kind === 'withheld' ? [one.text] : []));
  const { tool_calls: _, ...others } = message;
  const kept = { ...others, ...(calls.length > 0 && { tool_calls: calls }) };
  return texts.length === 0 ? withRole(message, kept) : withText(withRole(message, kept), texts);
}

/** TypeScript forgets the members that have types of their own. */
function withRole({ role, content }: ChatMessage, kept: Readonly<Record<string, unknown>>): ChatMessage {
  return { ...kept, role, content };
}

/** The message with further paragraphs. Parts that only repeat its text go, others stay beside it. */
function withText(message: ChatMessage, texts: readonly string[]): ChatMessage {
  const paragraphs = message.content === '' ? texts : [message.content, ...texts];
  const { parts, ...others } = message;
  const told = withRole({ ...message, content: paragraphs.join('\n\n') }, others);
  const list: readonly unknown[] =
    parts instanceof Json ? elementsOf(parts) : Array.isArray(parts) ? parts : [];
  if (list.every(isTextPart)) return told;
  const added = `${message.content === '' ? '' : '\n\n'}${texts.join('\n\n')}`;
  return { ...told, parts: [...list, { type: 'text', text: added }] };
}

function isTextPart(part: unknown): boolean {
  const value = part instanceof Json ? part.value : part;
  return isObject(value) && value['type'] === 'text';
}
