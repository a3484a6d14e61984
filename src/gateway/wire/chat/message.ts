import type { ChatMessage } from '../../../contract/provider.ts';
import { isObject, type Json } from '../../../json/json.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';
import { plainReplaced } from '../replaced-messages.ts';
import { readAnnotations } from './annotations.ts';
import { readAudio } from './audio.ts';
import { readContent } from './content.ts';
import type { ReadContext } from './read-context.ts';
import { readReasoning } from './reasoning.ts';
import { readToolCalls, type ToldCall } from './tool-calls.ts';

/** A message of a body: what hooks are told of it, and how to write what they made of that. */
export interface ReadMessage {
  readonly told: ChatMessage;
  readonly calls: readonly ToldCall[];
  /** Throws REPLY_MALFORMED. */
  write(changed: ChatMessage, edits: Edits): void;
}

/** The calls of tools that stand before a message, by id, and those of the older form by name. */
export type KnownCalls = ReadonlyMap<string, ToldCall>;

/** A message that says a text and nothing else: of the system, the developer or the user. */
export function readTextMessage(place: Place, role: 'system' | 'user', context: ReadContext): ReadMessage {
  const content = readContent(place, context);
  context.leftovers.addMembers(place, ofText);
  const told = { role, content: content.text, ...partsOf(content.parts), ...otherOf(context) };
  return {
    told,
    calls: [],
    write: (changed, edits) => {
      const plain = plainReplaced(changed);
      refuseMembers(plain, ['tool_calls', 'tool_result', 'reasoning', 'refusal']);
      content.write(plain, edits);
      context.leftovers.write(plain['other'], edits);
    },
  };
}

/** The members that the message of hooks tells. */
const ofText = new Set(['role', 'content']);
const ofResult = new Set(['role', 'content', 'tool_call_id']);
const ofNamedResult = new Set([...ofResult, 'name']);
const ofAssistant = new Set(['role', 'content', 'tool_calls', 'function_call']);

/** The result of a tool that the client ran. */
export function readToolMessage(place: Place, known: KnownCalls, context: ReadContext): ReadMessage {
  const content = readContent(place, context);
  const id = place.at('tool_call_id');
  const name = place.at('name');
  const isLegacy = place.at('role')?.text === 'function';
  if (id !== undefined && id.text === undefined)
    throw context.side.invalid('is no text', `${context.at}.tool_call_id`);
  const call = known.get(isLegacy ? (name?.text ?? '') : (id?.text ?? ''));
  const toldName = call?.name ?? name?.text ?? '';
  const isNameTold = name?.text !== undefined && name.text === toldName;
  context.leftovers.addMembers(place, isNameTold ? ofNamedResult : ofResult);
  const result = { id: id?.text ?? '', name: toldName, ...partsOf(content.parts) };
  return {
    told: { role: 'tool', content: content.text, tool_result: result, ...otherOf(context) },
    calls: [],
    write: (changed, edits) => {
      const plain = plainReplaced(changed);
      refuseMembers(plain, ['tool_calls', 'reasoning', 'refusal', 'parts']);
      const given = plain['tool_result'];
      if (!isObject(given) || given['id'] !== result.id || given['name'] !== result.name) {
        throw unwritable(
          'a replaced tool message has not the `tool_result` with the id and the name that it had',
        );
      }
      content.write({ content: plain['content'], parts: given['parts'] }, edits);
      context.leftovers.write(plain['other'], edits);
    },
  };
}

/** A message of the model, in a request or in an answer. */
export function readAssistantMessage(place: Place, context: ReadContext): ReadMessage {
  const { leftovers } = context;
  const content = readContent(place, context);
  const calls = readToolCalls(place, context);
  const reasoning = readReasoning(place, leftovers);
  const annotations = readAnnotations(place, context);
  const audio = readAudio(place, context);
  const refusal = place.at('refusal');
  const isRefusalTold = refusal === undefined || refusal.kind === 'string' || refusal.kind === 'null';
  leftovers.addMembers(place, {
    has: (key) =>
      (key === 'refusal' && isRefusalTold) ||
      ofAssistant.has(key) ||
      [reasoning, annotations, audio].some(({ told }) => told.includes(key)),
  });
  const refusalText = refusal?.text ?? '';
  const parts =
    audio.part === undefined ? content.parts : [...(content.parts ?? textParts(content.text)), audio.part];
  return {
    told: {
      role: 'assistant',
      content: content.text,
      ...partsOf(parts),
      ...(calls.told.length > 0 && { tool_calls: calls.told }),
      ...(reasoning.text !== '' && { reasoning: reasoning.text }),
      ...(refusalText !== '' && { refusal: refusalText }),
      ...(annotations.citations.length > 0 && { citations: annotations.citations }),
      ...otherOf(context),
    },
    calls: calls.told,
    write: (changed, edits) => {
      const plain = plainReplaced(changed);
      refuseMembers(plain, ['tool_result']);
      content.write(audio.take(plain, content.parts !== undefined, edits), edits);
      calls.write(plain['tool_calls'], edits);
      reasoning.write(plain['reasoning'], plain['other'], edits);
      annotations.write(plain['citations'], edits);
      writeRefusal(plain['refusal'], { message: place, refusal, text: refusalText }, edits);
      leftovers.write(plain['other'], edits);
    },
  };
}

function textParts(text: string): readonly { readonly type: string; readonly text: string }[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function partsOf(parts: readonly unknown[] | undefined): { readonly parts?: readonly unknown[] } {
  return parts === undefined ? {} : { parts };
}

function otherOf({ leftovers }: ReadContext): { readonly other?: Json } {
  return leftovers.json === undefined ? {} : { other: leftovers.json };
}

interface SentRefusal {
  readonly message: Place;
  readonly refusal: Place | undefined;
  readonly text: string;
}

function writeRefusal(given: unknown, { message, refusal, text }: SentRefusal, edits: Edits): void {
  const wanted = given ?? '';
  if (typeof wanted !== 'string') throw unwritable('the `refusal` of a replaced message is not a string');
  if (wanted === text) return;
  const json = wanted === '' ? 'null' : JSON.stringify(wanted);
  if (refusal === undefined) edits.addMember(message, 'refusal', json);
  else edits.replace(refusal, json);
}

/** Members that a message of this kind cannot have are not dropped in silence. */
function refuseMembers(plain: Readonly<Record<string, unknown>>, keys: readonly string[]): void {
  for (const key of keys) {
    const value = plain[key];
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      continue;
    throw unwritable(`a replaced ${String(plain['role'])} message has \`${key}\``);
  }
}
