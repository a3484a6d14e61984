import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import type { HookEvent, ToolHookResponse, TurnEvent } from '../../contract/hook.ts';
import type { ChatMessage, ModelOptions, ProviderRequest, ToolListing } from '../../contract/provider.ts';
import type { Turn } from '../../contract/turn.ts';
import { withoutTextParts, withTextParts } from '../../dialects/text-parts.ts';

export interface Replaced {
  readonly event: HookEvent;
  readonly parts: ReadonlyMap<string, Json>;
}

/** Applies a filter's replacements to its event. Throws Error if the changes contradict each other or are ambiguous. */
export function applyReplace(event: HookEvent, replace: Json): Replaced {
  const parts = new Map(exactMembers(replace));
  switch (event.phase) {
    case 'request': {
      const changes = changeRequest(event.turn, parts);
      return { event: { ...event, turn: { ...event.turn, ...changes } }, parts };
    }
    case 'before_call': {
      const changes = { ...changeRequest(event.request, parts), ...changeOther(event.request, parts) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'after_call': {
      const given = parseMessages(parts.get('message'));
      const [message] = reconcileMessages([event.response.message], given ?? []);
      if (message === undefined) return { event, parts };
      if (message !== given?.[0]) parts.set('message', Json.from(message));
      return { event: { ...event, response: { ...event.response, message } }, parts };
    }
    case 'before_execution':
    case 'approval': {
      const args = parts.get('args');
      const name = parts.get('name')?.value;
      const duplicate = args === undefined ? undefined : findDuplicateKey(args.text);
      if (duplicate !== undefined) throw new Error(`duplicate replaced argument "${duplicate}"`);
      const changes = { ...(args && { args }), ...(typeof name === 'string' && { name }) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'blocked':
    case 'after_execution': {
      const content = parts.get('content');
      if (content === undefined) return { event, parts };
      return { event: { ...event, response: withText(event.response, String(content.value)) }, parts };
    }
    default:
      return { event: event.hook === 'turn' ? applyToTurn(event, parts) : event, parts };
  }
}

function withText({ result, ...response }: ToolHookResponse, content: string): ToolHookResponse {
  if (result === undefined) return { ...response, content };
  return { ...response, content, result: resultFrom(result, content) };
}

function changeRequest({ messages: sent }: Pick<ProviderRequest, 'messages'>, parts: Map<string, Json>) {
  const prompt = parts.get('system_prompt');
  const given = parseMessages(parts.get('messages'));
  const messages = given && reconcileMessages(sent, given);
  if (messages?.some((message, index) => message !== given?.[index])) {
    parts.set('messages', Json.from(messages));
  }
  return {
    ...(messages && { messages }),
    ...(prompt && { system_prompt: String(prompt.value) }),
    ...readModelChanges(parts),
  };
}

function changeOther({ other: sent }: ProviderRequest, parts: ReadonlyMap<string, Json>) {
  const other = parts.get('other');
  if (other === undefined) return {};
  if (sent === undefined) throw new Error('this request has no `other` that could be replaced');
  const duplicate = findDuplicateKey(other.text);
  if (duplicate !== undefined) throw new Error(`the replaced \`other\` has the duplicate key "${duplicate}"`);
  return { other };
}

function parseMessages(given: Json | undefined) {
  if (given === undefined) return undefined;
  if (isObject(given.value)) return [parseMessage(given.text)];
  return elementsOf(given).map(({ text }) => parseMessage(text));
}

/**
 * Reconciles `content` with the text of the parts after a filter changed either; the changed copy wins. Returns an
 * unchanged message as the same object. Throws Error if the copies changed differently, or if the changed copy cannot
 * be determined.
 */
export function reconcileMessages(
  originals: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ChatMessage[] {
  const sent = originals.map(withTextParts);
  const given = new Map(sent.map((message, index) => [message, originals[index]]));
  const findOriginals = createTextIndex(sent);
  const firstWithoutParts = originals.find((original, index) => original !== sent[index]);
  return replaced.map((message, index) => {
    const places = placesOf(message);
    if (places.length === 0) return message;
    // In a list of the same length, a message replaces the one at its position; otherwise it may replace any.
    const samePosition = sent.length === replaced.length ? sent[index] : undefined;
    const isAgreed = places.every(({ texts }) => matchesContent(message.content, texts));
    const candidates =
      samePosition !== undefined && sharesText(samePosition, message)
        ? [samePosition]
        : findOriginals(message);
    const reconciled = isAgreed ? message : reconcile(message, candidates);
    // A message without parts gets none, even if the hook added them.
    const [candidate = samePosition] = candidates;
    const original = candidate === undefined ? firstWithoutParts : given.get(candidate);
    return original === undefined ? reconciled : withoutTextParts(reconciled, original);
  });
}

function createTextIndex(sent: readonly ChatMessage[]): (message: ChatMessage) => readonly ChatMessage[] {
  let index: Map<string, Map<string, ChatMessage>> | undefined;
  return (message) => {
    index ??= buildIndex(sent);
    const found = keysOf(message).flatMap((key) => [...(index?.get(key)?.values() ?? [])]);
    return [...new Set(found)];
  };
}

function buildIndex(sent: readonly ChatMessage[]): Map<string, Map<string, ChatMessage>> {
  const index = new Map<string, Map<string, ChatMessage>>();
  for (const message of sent) {
    const keys = keysOf(message);
    const identity = JSON.stringify(keys);
    for (const key of keys) {
      const same = index.get(key) ?? new Map<string, ChatMessage>();
      if (!same.has(identity)) same.set(identity, message);
      index.set(key, same);
    }
  }
  return index;
}

function keysOf(message: ChatMessage): string[] {
  const places = placesOf(message).filter(({ texts }) => texts.length > 0);
  const copies = places.map(({ place: field, texts }) => JSON.stringify([field, texts]));
  return message.content === '' ? copies : [JSON.stringify(message.content), ...copies];
}

function reconcile(message: ChatMessage, candidates: readonly ChatMessage[]): ChatMessage {
  if (candidates.length === 0) return requireAgreement(message);
  const texts = new Set(candidates.map((original) => changedText(original, message)));
  const [text] = texts;
  if (texts.size > 1) throw new Error('it is unclear which text of a replaced message was changed');
  if (text === undefined) return message;
  const places = placesOf(message).filter(({ texts }) => !matchesContent(text, texts));
  return places.reduce((changed, { place: field }) => withTextAt(changed, field, text), {
    ...message,
    content: text,
  });
}

function requireAgreement(message: ChatMessage): ChatMessage {
  const fits = placesOf(message).every(
    ({ texts }) => texts.length === 0 || matchesContent(message.content, texts),
  );
  if (fits) return message;
  throw new Error('a replaced message has different texts in `content` and in its parts');
}

function changedText(original: ChatMessage, message: ChatMessage): string | undefined {
  const changed = placesOf(message)
    .filter(({ place: field, texts }) => !isSameText(texts, textsAt(original, field) ?? []))
    .map(({ texts }) => texts.join(''));
  if (message.content !== original.content) changed.push(message.content);
  if (new Set(changed).size > 1) {
    throw new Error('a replaced message has different texts in `content` and in its parts');
  }
  return changed[0];
}

function sharesText(original: ChatMessage, message: ChatMessage): boolean {
  if (message.content !== '' && message.content === original.content) return true;
  return placesOf(message).some(
    ({ place: field, texts }) => texts.length > 0 && isSameText(texts, textsAt(original, field) ?? []),
  );
}

function placesOf(message: ChatMessage) {
  return partFields.flatMap((field) => {
    const texts = textsAt(message, field);
    return texts === undefined ? [] : [{ place: field, texts }];
  });
}

function matchesContent(content: string, texts: readonly string[]): boolean {
  return content === texts.join('') || content === texts.join('\n');
}

function isSameText(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Takes missing or empty `content` from the parts. */
export function completeMessage(message: Readonly<Record<string, unknown>>): ChatMessage {
  const { content } = message;
  const text = content === undefined || content === '' ? partTexts(message).join('') : content;
  return { ...(message as ChatMessage), content: text as string };
}

/** Parses `role` and `content` as strings and keeps the exact text of all other members. */
export function parseMessage(text: string): ChatMessage {
  const { role, content } = parseJson(text) as ChatMessage;
  return { ...Object.fromEntries(exactMembers(new Json(text))), role, content };
}

const partFields = ['parts', 'tool_result'] as const;
type PartField = (typeof partFields)[number];

export function textsAt(message: Readonly<Record<string, unknown>>, field: PartField): string[] | undefined {
  const parts = partsOf(plain(message[field]), field);
  if (!Array.isArray(parts)) return undefined;
  return parts.flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
}

/** Puts `text` in the first text part of that member and removes its other text parts. */
export function withTextAt(message: ChatMessage, field: PartField, text: string): ChatMessage {
  const holder = exact(message[field]);
  const parts = putText(partsOf(holder, field), text);
  return { ...message, [field]: isObject(holder) ? { ...holder, parts } : parts };
}

function partTexts(message: Readonly<Record<string, unknown>>): string[] {
  const [texts = []] = partFields
    .map((place) => textsAt(message, place))
    .filter((found) => found !== undefined && found.length > 0);
  return texts;
}

function partsOf(holder: unknown, field: PartField): unknown {
  return field === 'tool_result' ? isObject(holder) && holder['parts'] : holder;
}

function putText(parts: unknown, text: string): unknown[] {
  let isPlaced = false;
  return (Array.isArray(parts) ? parts : []).flatMap((part) => {
    if (!isObject(part) || typeof part['text'] !== 'string') return [part];
    if (isPlaced) return [];
    isPlaced = true;
    return [{ ...part, text }];
  });
}

function plain(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

function exact(value: unknown): unknown {
  return value instanceof Json ? parseLossless(value.text) : value;
}

type Parts = ReadonlyMap<string, Json>;

function applyToTurn(event: TurnEvent, parts: Parts): TurnEvent {
  const { turn } = event;
  switch (event.phase) {
    case 'prompt': {
      const prompt = textAt(parts, 'prompt');
      if (prompt === undefined) return event;
      return { ...event, turn: { ...turn, prompt, messages: withPrompt(turn.messages, prompt) } };
    }
    case 'system_prompt': {
      const system_prompt = textAt(parts, 'system_prompt');
      return system_prompt === undefined ? event : { ...event, turn: { ...turn, system_prompt } };
    }
    case 'tool_list':
      return { ...event, turn: { ...turn, tools: chooseTools(turn.tools, parts.get('tools')) } };
    default:
      return event;
  }
}

function readModelChanges(parts: Parts): Partial<Pick<ProviderRequest, 'tools' | 'model' | 'options'>> {
  const model = textAt(parts, 'model');
  const tools = parts.get('tools')?.value;
  const options = parts.get('options')?.value;
  return {
    ...(model !== undefined && { model }),
    ...(tools !== undefined && { tools: readTools(tools) }),
    ...(options !== undefined && { options: readOptions(options) }),
  };
}

export function withPrompt(messages: readonly ChatMessage[], prompt: string): ChatMessage[] {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => (index === newest ? { role: 'user', content: prompt } : message));
}

function chooseTools(tools: Turn['tools'], choice: Json | undefined): Turn['tools'] {
  if (choice === undefined) return tools;
  const { value } = choice;
  if (!isObject(value)) throw new Error('`tools` is not an object');
  const include = namesAt(value, 'include');
  const exclude = namesAt(value, 'exclude') ?? [];
  return tools.filter(
    ({ name }) => (include === undefined || include.includes(name)) && !exclude.includes(name),
  );
}

function namesAt(choice: Readonly<Record<string, unknown>>, key: string): readonly unknown[] | undefined {
  const names = choice[key];
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) throw new Error(`\`tools.${key}\` is not a list`);
  return names;
}

function readTools(value: unknown): ToolListing[] {
  if (!Array.isArray(value)) throw new Error('`tools` is not a list');
  return value.map((tool) => {
    const { name, description = '', input_schema } = isObject(tool) ? tool : {};
    if (typeof name !== 'string' || name === '') throw new Error('`tools` contains a tool without a name');
    if (typeof description !== 'string') throw new Error(`the description of tool "${name}" is not a string`);
    return { name, description, input_schema: isObject(input_schema) ? input_schema : { type: 'object' } };
  });
}

function readOptions(value: unknown): ModelOptions {
  if (!isObject(value)) throw new Error('`options` is not an object');
  const { max_tokens, temperature } = value;
  return {
    ...(max_tokens !== undefined && { max_tokens: numberOf('max_tokens', max_tokens) }),
    ...(temperature !== undefined && { temperature: numberOf('temperature', temperature) }),
  };
}

function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number') return value;
  throw new Error(`\`options.${name}\` is not a number`);
}

function textAt(parts: Parts, key: string): string | undefined {
  const value = parts.get(key)?.value;
  if (value === undefined || typeof value === 'string') return value;
  throw new Error(`\`${key}\` is not a string`);
}

/** A string if the old result was one; else the text parsed as JSON, or the text itself. */
export function resultFrom(old: Json, content: string): Json {
  const parsed = typeof old.value === 'string' ? undefined : tryJson(content.trim());
  return parsed ?? Json.from(content);
}
