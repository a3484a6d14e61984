import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { WireAnswer } from '../wire/codec.ts';

/** A tool call of an answer that the client is to run, as the hooks of after_call left it. */
export interface ClientCall {
  readonly name: string;
  /** The model's own id for it. */
  readonly id: string;
  /** One JSON object, else a JSON string of the text. */
  readonly args: Json;
  /** The index of its message, and its own in `tool_calls` of that. */
  readonly choice: number;
  readonly index: number;
}

/** The calls of these messages that the client is to run, in order: all but those that the upstream has run itself. */
export function clientCallsOf(answer: WireAnswer, messages: readonly ChatMessage[]): readonly ClientCall[] {
  return messages.flatMap((message, choice) => {
    const servedIds = idsOfServedCalls(answer, choice);
    return callEntriesOf(message).flatMap((entry, index) => {
      const call = { ...readEntry(entry), choice, index };
      return servedIds.has(call.id) ? [] : [call];
    });
  });
}

/** Ids of calls that the upstream told of as run by itself. */
function idsOfServedCalls({ messages, toolCalls }: WireAnswer, choice: number): ReadonlySet<string> {
  const message = messages[choice];
  const entries = message === undefined ? [] : callEntriesOf(message);
  const ofClient = toolCalls.filter((call) => call.choice === choice);
  if (entries.length === ofClient.length) return none;
  const indexes = new Set(ofClient.map(({ index }) => index));
  const ids = new Set(entries.flatMap((entry, index) => (indexes.has(index) ? [] : [readEntry(entry).id])));
  // An id that stands for both is judged.
  for (const { callId } of ofClient) ids.delete(callId);
  return ids;
}

const none: ReadonlySet<string> = new Set();

/** The members of each entry of `tool_calls`. */
export function callEntriesOf(message: ChatMessage): readonly Readonly<Record<string, unknown>>[] {
  const { tool_calls: calls } = message;
  if (calls instanceof Json) return elementsOf(calls).map(membersOf);
  return Array.isArray(calls) ? calls.map(membersOf) : [];
}

function membersOf(entry: unknown): Readonly<Record<string, unknown>> {
  if (entry instanceof Json) return Object.fromEntries(exactMembers(entry));
  return isObject(entry) ? entry : {};
}

function readEntry({ id, name, args }: Readonly<Record<string, unknown>>) {
  const json = args instanceof Json ? args : Json.from(args ?? '');
  return { id: textOf(id), name: textOf(name), args: json };
}

function textOf(value: unknown): string {
  const plain = value instanceof Json ? value.value : value;
  return typeof plain === 'string' ? plain : '';
}
