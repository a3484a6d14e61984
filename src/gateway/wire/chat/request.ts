import { Json } from '../../../base/json/json.ts';
import type { ChatMessage } from '../../../contract/provider.ts';
import { joinPrompt, type RequestedTools, readTools, splitPrompt } from '../bodies.ts';
import type { ClientToolResult, RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { bodySpot, Edits, numberAt, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidRequest, unwritable } from '../refusal.ts';
import { alignReplaced, plainReplaced, requireTold } from '../replaced-messages.ts';
import { rewrite } from '../rewrite.ts';
import { type DescribedCall, describe, describeBody, describeCall, Seen } from '../seen.ts';
import { walk } from '../walk.ts';
import { writeAssistant } from './answer.ts';
import { requestShape } from './shapes.ts';

/** Throws RefusedCall (400). */
export function readChatRequest(body: string, rules: WireRules): WireRequest {
  const place = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  if (place.kind !== 'object') throw invalidRequest('the body is not a JSON object');
  return new ChatRequest(place, rules);
}

export function wantsUsage(request: WireRequest): boolean {
  return request instanceof ChatRequest && request.wantsUsage;
}

type Changed = Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>;

class ChatRequest implements WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly wantsUsage: boolean;
  readonly payload: RequestPayload;
  readonly toolResults: readonly ClientToolResult[];
  readonly places: readonly string[];
  readonly #rules: WireRules;
  readonly #read: ReadBody;

  constructor(place: Place, rules: WireRules) {
    const model = place.at('model')?.text;
    if (model === undefined) throw invalidRequest('the body has no `model`', 'model');
    const stream = place.at('stream');
    if (stream !== undefined && stream.kind !== 'boolean' && stream.kind !== 'null')
      throw invalidRequest('`stream` is neither true nor false', 'stream');
    const limits = ['max_completion_tokens', 'max_tokens'].flatMap((key) => numberAt(place, key) ?? []);
    this.model = model;
    this.isStream = stream?.value === true;
    this.wantsUsage = place.at('stream_options')?.at('include_usage')?.value === true;
    // Servers differ in which limit they use, so the larger one counts.
    this.maxTokens = limits.length === 0 ? undefined : Math.max(...limits);
    this.choices = Math.max(1, Math.trunc(numberAt(place, 'n') ?? 1));
    this.#rules = rules;
    this.#read = readBody(place, rules);
    this.payload = this.#read.payload;
    this.toolResults = this.#read.toolResults;
    this.places = this.#read.messages.map((_, index) => `messages[${this.#read.prompt.length + index}]`);
  }

  /** Reads the written body again to verify that it contains exactly what the hooks returned. */
  write(changed: Changed, model: string): string {
    const { body, payload, tools } = this.#read;
    const edits = new Edits(body.place.source);
    const named = body.place.at('model');
    if (named !== undefined) edits.replaceText(named, model);
    if (isUnchanged(changed, payload)) return edits.apply();
    const promptCount = this.#writeMessages(changed, edits);
    body.other.write(changed.other, edits, body.place);
    tools.write(changed.tools, edits);
    const written = edits.apply();
    const again = readBody(openPlace(written), this.#rules, promptCount).payload;
    if (again.system_prompt !== changed.system_prompt)
      throw unwritable('a change of a hook cannot be written into the body exactly');
    requireTold(again.messages, changed.messages);
    return written;
  }

  #writeMessages(changed: Changed, edits: Edits): number {
    const { list, prompt, messages, payload } = this.#read;
    writePrompt(changed.system_prompt, { list, prompt }, edits);
    const offset = prompt.length;
    let next = 0;
    for (const { message, index, isSame } of alignReplaced(payload.messages, changed.messages)) {
      if (index === undefined) {
        edits.insert(list, newMessage(message), offset + next);
        continue;
      }
      for (; next < index; next += 1) edits.remove(list, offset + next);
      const sent = messages[index];
      if (!isSame && sent !== undefined) writeMessage(sent, message, edits);
      next = index + 1;
    }
    for (; next < messages.length; next += 1) edits.remove(list, offset + next);
    if (changed.system_prompt === payload.system_prompt) return offset;
    return changed.system_prompt === '' ? 0 : Math.max(offset, 1);
  }
}

interface ReadMessage {
  readonly told: ChatMessage;
  readonly seen: Seen;
}

interface ReadBody {
  readonly body: Seen;
  readonly list: Place;
  readonly prompt: readonly Seen[];
  readonly messages: readonly ReadMessage[];
  readonly toolResults: readonly ClientToolResult[];
  readonly tools: RequestedTools;
  readonly payload: RequestPayload;
}

/** `promptCount` is the number of leading system messages in the prompt; undefined takes all that contain only text. */
function readBody(place: Place, rules: WireRules, promptCount?: number): ReadBody {
  const list = place.at('messages');
  if (list?.kind !== 'array') throw invalidRequest('the body has no list of `messages`', 'messages');
  requireMessages(list);
  const body = new Seen(place);
  walk(bodySpot(place), requestShape, { rules, isAnswer: false, at: '' }, body);
  const end = body.messages.findIndex((seen) => !isSystem(seen));
  const prompt = body.messages.slice(0, promptCount ?? (end === -1 ? undefined : end));
  for (const [index, seen] of prompt.entries()) body.other.addAll(seen.other, `messages[${index}]`);
  const calls = new Map<string, DescribedCall>();
  const toolResults: ClientToolResult[] = [];
  const messages = body.messages.slice(prompt.length).map((seen, index) => {
    const told = describeMessage(seen, calls);
    for (const call of seen.calls.map(describeCall)) calls.set(call.id === '' ? call.name : call.id, call);
    if (told.role === 'tool') toolResults.push(toolResultOf({ told, seen }, calls, index));
    return { told, seen };
  });
  const tools = readTools(place, {
    lists: ['tools', 'functions'],
    hold: (tool) => tool.at('function') ?? tool.at('custom') ?? tool,
    schema: 'parameters',
  });
  const told = messages.map((message) => message.told);
  const lastUser = told.findLastIndex(({ role }) => role === 'user');
  const payload = {
    messages: told,
    system_prompt: joinPrompt(prompt.map(textOf)),
    round: 1 + told.slice(lastUser + 1).filter(({ role }) => role === 'assistant').length,
    tools: tools.listings,
    options: {
      max_tokens: numberAt(place, 'max_completion_tokens') ?? numberAt(place, 'max_tokens'),
      temperature: numberAt(place, 'temperature'),
    },
    other: body.other.json ?? new Json('{}'),
  };
  return { body, list, prompt, messages, toolResults, tools, payload };
}

/** Checked here, because the walker's error would name a missing role instead. */
function requireMessages(list: Place): void {
  for (const [index, item] of list.items.entries())
    if (item.kind !== 'object')
      throw invalidRequest(`messages[${index}] is not a message`, `messages[${index}]`);
}

function isSystem({ place, body }: Seen): boolean {
  const role = place.at('role')?.text;
  return (role === 'system' || role === 'developer') && body.every(({ kind }) => kind === 'text');
}

const roles: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** A tool result gets the name of its call. A different name in the message goes to `other`. */
function describeMessage(seen: Seen, calls: ReadonlyMap<string, DescribedCall>): ChatMessage {
  const role = roles[seen.place.at('role')?.text ?? ''] ?? 'user';
  if (role !== 'tool') return describe(seen, role);
  const id = seen.links.get('id')?.place.text ?? '';
  const named = seen.links.get('name');
  const name = callOf(seen, calls)?.name ?? named?.place.text ?? '';
  if (named !== undefined && named.place.text !== name) seen.other.add(named.path, named);
  const { parts, ...told } = describe(seen, role);
  return {
    ...told,
    role,
    content: told.content,
    tool_result: { id, name, ...(parts !== undefined && { parts }) },
  };
}

function callOf(
  { place, links }: Seen,
  calls: ReadonlyMap<string, DescribedCall>,
): DescribedCall | undefined {
  const key = place.at('role')?.text === 'function' ? 'name' : 'id';
  return calls.get(links.get(key)?.place.text ?? '');
}

function toolResultOf(
  { told, seen }: ReadMessage,
  calls: ReadonlyMap<string, DescribedCall>,
  index: number,
): ClientToolResult {
  const callId = seen.links.get('id')?.place.text ?? '';
  const call = calls.get(callId === '' ? (seen.links.get('name')?.place.text ?? '') : callId);
  return {
    callId,
    call: call && { name: call.name, args: call.args },
    content: told.content,
    isError: false,
    index,
  };
}

function textOf({ body }: Seen): string {
  return describeBody(body).content;
}

/** Writes a changed system prompt into its messages. Throws REPLY_MALFORMED if the split is ambiguous. */
function writePrompt(
  changed: string,
  { list, prompt }: { readonly list: Place; readonly prompt: readonly Seen[] },
  edits: Edits,
): void {
  const old = prompt.map(textOf);
  if (changed === joinPrompt(old)) return;
  if (prompt.length === 0) edits.insert(list, JSON.stringify({ role: 'system', content: changed }), 0);
  if (changed === '') for (const index of prompt.keys()) edits.remove(list, index);
  if (prompt.length === 0 || changed === '') return;
  const texts = splitPrompt(old, changed);
  if (texts === undefined)
    throw unwritable('a replaced `system_prompt` cannot be split over the system messages of the request');
  for (const [index, seen] of prompt.entries()) {
    const { parts: _, ...sent } = describe(seen, 'system');
    const content = texts[index] ?? '';
    if (content === sent.content) continue;
    const add = { text: (text: string) => edits.addMember(seen.place, 'content', JSON.stringify(text)) };
    rewrite(seen, describe(seen, 'system'), { ...sent, role: 'system', content }, edits, {
      isAnswer: false,
      add,
    });
  }
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

function writeMessage({ told, seen }: ReadMessage, changed: ChatMessage, edits: Edits): void {
  const { place } = seen;
  if (told.role === 'assistant') {
    writeAssistant({ told, seen, place }, changed, edits, { isAnswer: false });
    return;
  }
  const put = (text: string) => {
    const old = place.at('content');
    if (old === undefined) edits.addMember(place, 'content', JSON.stringify(text));
    else edits.replace(old, JSON.stringify(text));
  };
  const options = { isAnswer: false, add: { text: put }, own: new Set(['tool_result']) };
  rewrite(seen, told, told.role === 'tool' ? withPartsOfResult(told, changed) : changed, edits, options);
}

function withPartsOfResult(told: ChatMessage, changed: ChatMessage): ChatMessage {
  const sent = plainReplaced(told)['tool_result'];
  const given = plainReplaced(changed)['tool_result'];
  const member = (result: unknown, key: string): unknown =>
    typeof result === 'object' && result !== null ? Reflect.get(result, key) : undefined;
  if (member(given, 'id') !== member(sent, 'id') || member(given, 'name') !== member(sent, 'name'))
    throw unwritable('a replaced tool message does not keep the id and the name of its `tool_result`');
  if (changed['parts'] !== undefined) throw unwritable('a replaced tool message has `parts` of its own');
  return { ...changed, parts: member(given, 'parts') };
}

function newMessage(message: ChatMessage): string {
  const plain = plainReplaced(message);
  const { role, content } = message;
  const { parts } = plain;
  const isText = Array.isArray(parts) && parts.every((part: unknown) => isTextPart(part));
  const isPlain = Object.keys(plain).every(
    (key) => key === 'role' || key === 'content' || (key === 'parts' && isText),
  );
  if (role === 'tool' || !isPlain)
    throw unwritable('a message that a hook added or put in place of another must only be a text');
  return JSON.stringify({ role, content });
}

function isTextPart(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'type' in part && part.type === 'text';
}
