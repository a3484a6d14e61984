import type { ChatMessage } from '../../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../../json/equal.ts';
import { isObject, stringifyJson } from '../../../../json/json.ts';
import type { RequestPayload } from '../../codec.ts';
import { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import type { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import { alignReplaced, plainReplaced, type ReplacedMessage } from '../../replaced-messages.ts';
import { requireWritten } from '../blocks/written-check.ts';
import { writeMessage } from '../blocks/written-message.ts';
import type { RequestMessage } from './message.ts';
import { type ReadSystem, writeSystem } from './system.ts';
import { writeToolResult } from './tool-result.ts';
import { writeTools } from './tools.ts';

/** A request as it was read, with the places of all that hooks may change. */
export interface ReadRequest {
  readonly root: Place;
  readonly model: Place;
  readonly messages: readonly RequestMessage[];
  readonly payload: RequestPayload;
  readonly leftovers: Leftovers;
  readonly system: ReadSystem;
  /** The messages of a written body. */
  readonly readAgain: (body: string) => readonly ChatMessage[];
}

/** The body with the hooks' changes. Throws REPLY_MALFORMED for what cannot be written at an exact place. */
export function writeRequest(
  { root, model, messages, payload, leftovers, system, readAgain }: ReadRequest,
  changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
  name: string,
): string {
  const edits = new Edits(root.source);
  edits.replaceText(model, name);
  if (changed.messages !== payload.messages) writeMessages(root, messages, changed.messages, edits);
  writeSystem(changed.system_prompt, system, edits);
  const isOtherSame = changed.other === payload.other || isSameToTheDigit(changed.other, payload.other);
  if (!isOtherSame) leftovers.write(changed.other, edits, root);
  if (changed.tools !== payload.tools && !isSameToTheDigit(changed.tools, payload.tools)) {
    if (!isOtherSame) throw unwritable('a request’s `tools` and `other` were both replaced');
    writeTools(root.at('tools'), changed.tools, edits);
  }
  const body = edits.apply();
  if (changed.messages !== payload.messages && body !== root.source)
    requireWritten(readAgain(body), changed.messages);
  return body;
}

function writeMessages(
  root: Place,
  sent: readonly RequestMessage[],
  changed: readonly ChatMessage[],
  edits: Edits,
): void {
  const aligned = alignReplaced(
    sent.map(({ message }) => message),
    changed,
  );
  requireOrder(aligned);
  requireWholeCalls(sent, aligned);
  for (const replaced of aligned) {
    const old = replaced.index === undefined ? undefined : sent[replaced.index];
    if (old === undefined || replaced.isSame) continue;
    const plain = writeMessage(replaced.message, { ...old, isAnswer: false, own: toolMembers }, edits);
    if (old.result !== undefined) writeToolResult(plain['tool_result'], old.result, edits);
  }
  const list = root.at('messages');
  if (list === undefined) return;
  dropMessages(list, sent, new Set(aligned.map(({ index }) => index)), edits);
  insertMessages(list, sent, aligned, edits);
}

const toolMembers = new Set(['tool_result']);

function requireOrder(aligned: readonly ReplacedMessage[]): void {
  let last = -1;
  for (const { index } of aligned) {
    if (index === undefined) continue;
    if (index <= last) throw unwritable('the replaced messages stand in another order');
    last = index;
  }
}

/** A result belongs to a call, and the API refuses one without the other. */
function requireWholeCalls(sent: readonly RequestMessage[], aligned: readonly ReplacedMessage[]): void {
  if (aligned.every(({ isSame }) => isSame) && aligned.length === sent.length) return;
  const kept = new Set(aligned.map(({ index }) => index));
  const calls = new Set(aligned.flatMap(({ message }) => callIdsOf(message)));
  for (const [index, { result }] of sent.entries()) {
    if (result?.call === undefined) continue;
    if (kept.has(index) !== calls.has(result.callId))
      throw unwritable('of a tool call and its result only one was taken out');
  }
}

function callIdsOf(message: ChatMessage): unknown[] {
  if (message.role !== 'assistant') return [];
  const calls = plainReplaced(message)['tool_calls'];
  return Array.isArray(calls) ? calls.map((call: unknown) => (isObject(call) ? call['id'] : undefined)) : [];
}

function dropMessages(
  list: Place,
  sent: readonly RequestMessage[],
  kept: ReadonlySet<number | undefined>,
  edits: Edits,
): void {
  const wiresKept = new Set(sent.flatMap(({ wire }, index) => (kept.has(index) ? [wire] : [])));
  for (const [index, { wire, told, entries = [] }] of sent.entries()) {
    if (kept.has(index)) continue;
    if (!wiresKept.has(wire)) edits.remove(list, wire);
    else {
      told.leftovers.write(undefined, edits);
      const blocks = list.items[wire]?.at('content');
      if (blocks !== undefined) for (const entry of entries) edits.remove(blocks, entry);
    }
  }
}

function insertMessages(
  list: Place,
  sent: readonly RequestMessage[],
  aligned: readonly ReplacedMessage[],
  edits: Edits,
): void {
  for (const [at, { message, index }] of aligned.entries()) {
    if (index !== undefined) continue;
    const before = aligned.slice(0, at).findLast((other) => other.index !== undefined)?.index;
    const after = aligned.slice(at).find((other) => other.index !== undefined)?.index;
    const wireBefore = before === undefined ? -1 : (sent[before]?.wire ?? -1);
    const wireAfter = after === undefined ? undefined : sent[after]?.wire;
    if (wireBefore === wireAfter) throw unwritable('a message was put between the parts of another');
    edits.insert(list, newMessage(message), wireAfter);
  }
}

/** A message of text alone, as hooks may add one. */
function newMessage(message: ChatMessage): string {
  const { role, content, ...rest } = plainReplaced(message);
  const isPlain = Object.values(rest).every((value) => value === undefined || value === null);
  if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string' || !isPlain)
    throw unwritable('a new message is more than the text of a user or assistant');
  return stringifyJson({ role, content });
}
