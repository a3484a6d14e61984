import type { ChatMessage, ToolListing } from '../../../contract/provider.ts';
import { Json } from '../../../json/json.ts';
import type { ClientHeaders, ClientToolResult, RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidRequest, unknownInRequest, unreadableReference, unwritable } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import { openPlace, type Place } from '../place.ts';
import { alignReplaced, plainReplaced, requireTold } from '../replaced-messages.ts';
import { openStrictly } from '../strict-json.ts';
import { isCodex } from './codex.ts';
import { describe } from './describe.ts';
import { Facets } from './facets.ts';
import { isQuiet } from './quiet.ts';
import { readItem } from './read-item.ts';
import type { Reading } from './reading.ts';
import { requireReadable } from './references.ts';
import { rewriteFacets } from './rewrite.ts';
import { listTools, writeTools } from './tools.ts';

/** An element of `input`, with the message that hooks read of it. */
interface InputItem {
  readonly place: Place;
  readonly facets: Facets;
  readonly message: ChatMessage;
}

type Changed = Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>;

/** Reads the body of `POST /v1/responses`. Throws RefusedCall (400). */
export function readRequest(body: string, rules: WireRules, headers: ClientHeaders = {}): ResponsesRequest {
  const root = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  if (root.kind !== 'object') throw invalidRequest('the body is not an object');
  requireReadable(root, rules);
  return new ResponsesRequest(root, rules, isCodex(headers));
}

/** A request to create a response. */
export class ResponsesRequest implements WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices = 1;
  readonly payload: RequestPayload;
  readonly toolResults: readonly ClientToolResult[];
  readonly places: readonly string[];
  /** Whether only `response.completed` ends its answer. */
  readonly isFromCodex: boolean;
  readonly #root: Place;
  readonly #items: readonly InputItem[];
  readonly #leftovers = new Leftovers();
  readonly #tools: readonly ToolListing[];
  readonly #rules: WireRules;
  #sent: Place;

  constructor(root: Place, rules: WireRules, isFromCodex = false) {
    this.isFromCodex = isFromCodex;
    this.#root = root;
    this.#rules = rules;
    this.#sent = root;
    this.model = requireString(root, 'model') ?? '';
    if (this.model === '') throw invalidRequest('`model` is missing', 'model');
    const maxTokens = root.at('max_output_tokens')?.value;
    this.isStream = root.at('stream')?.kind === 'boolean' && root.at('stream')?.value === true;
    this.maxTokens = typeof maxTokens === 'number' ? maxTokens : undefined;
    this.#items = readInput(root, rules);
    this.#tools = listTools(root.at('tools'));
    for (const [key, place] of root.members) {
      if (toldOfRequest.has(key) || (!alwaysTold.has(key) && isQuiet(key, place))) continue;
      this.#leftovers.add(key, { place, owner: root, entry: key });
    }
    this.payload = this.#describe();
    this.places = this.#items.map((_, index) =>
      root.at('input')?.kind === 'string' ? 'input' : `input[${index}]`,
    );
    this.toolResults = listToolResults(this.#items);
  }

  /** The body as it was last written for the upstream; before that as the client sent it. */
  get sent(): Place {
    return this.#sent;
  }

  write(changed: Changed, model: string): string {
    const edits = new Edits(this.#root.source);
    this.#writeMessages(changed.messages, edits);
    this.#writeSystemPrompt(changed.system_prompt, edits);
    this.#leftovers.write(changed.other, edits, this.#root);
    if (changed.tools !== this.#tools) writeTools(this.#root.at('tools'), this.#tools, changed.tools, edits);
    const named = this.#root.at('model');
    if (named !== undefined) edits.replaceText(named, model);
    const text = edits.apply();
    this.#sent = text === this.#root.source ? this.#root : openPlace(text);
    if (changed.messages !== this.payload.messages && this.#sent !== this.#root)
      requireTold(new ResponsesRequest(this.#sent, this.#rules).payload.messages, changed.messages);
    return text;
  }

  #describe(): RequestPayload {
    const messages = this.#items.map(({ message }) => message);
    const temperature = this.#root.at('temperature')?.value;
    return {
      messages,
      system_prompt: requireString(this.#root, 'instructions') ?? '',
      round: countRound(messages),
      tools: this.#tools,
      options: {
        ...(this.maxTokens !== undefined && { max_tokens: this.maxTokens }),
        ...(typeof temperature === 'number' && { temperature }),
      },
      other: this.#other(),
    };
  }

  #other(): Json {
    return this.#leftovers.json ?? emptyObject;
  }

  #writeSystemPrompt(changed: string, edits: Edits): void {
    if (changed === this.payload.system_prompt) return;
    const place = this.#root.at('instructions');
    if (place === undefined) edits.addMember(this.#root, 'instructions', JSON.stringify(changed));
    else edits.replace(place, JSON.stringify(changed));
  }

  #writeMessages(changed: readonly ChatMessage[], edits: Edits): void {
    if (changed === this.payload.messages) return;
    const input = this.#root.at('input');
    if (input?.kind === 'string') this.#writeText(input, changed, edits);
    else if (input?.kind === 'array') this.#writeItems(input, changed, edits);
    else if (changed.length > 0) throw unwritable('a request without `input` cannot get a message');
  }

  #writeItems(input: Place, changed: readonly ChatMessage[], edits: Edits): void {
    const aligned = alignReplaced(this.payload.messages, changed);
    const kept = new Set<number>();
    let next = 0;
    for (const { message, index, isSame } of aligned) {
      if (index === undefined) {
        edits.insert(input, formatMessage(message), next);
        continue;
      }
      kept.add(index);
      next = index + 1;
      if (!isSame) this.#writeItem(index, message, edits);
    }
    for (const index of this.#items.keys()) if (!kept.has(index)) edits.remove(input, index);
  }

  #writeItem(index: number, message: ChatMessage, edits: Edits): void {
    const item = this.#items[index];
    if (item === undefined) throw unwritable('a replaced message has no place');
    const { facets, place, message: sent } = item;
    if (isPlain(message) && facets.body.length === 0 && message.content !== '') {
      edits.replace(place, formatMessage(message));
      return;
    }
    const { text } = rewriteFacets(facets, sent, message, edits);
    if (text === '') return;
    const content = place.at('content');
    if (content?.kind !== 'array' || sent.role === 'tool')
      throw unwritable('a replaced message has a text where there is no place for it');
    const type = place.at('role')?.text === 'assistant' ? 'output_text' : 'input_text';
    edits.insert(content, JSON.stringify({ type, text }));
  }

  #writeText(input: Place, changed: readonly ChatMessage[], edits: Edits): void {
    const [only] = changed;
    if (changed.length === 1 && only?.role === 'user' && isPlain(only))
      edits.replaceText(input, only.content);
    else edits.replace(input, `[${changed.map(formatMessage).join(',')}]`);
  }
}

const emptyObject = new Json('{}');

const toldOfRequest = new Set(['model', 'stream', 'input', 'instructions']);

/** What people or programs write into settings is never only a setting. */
const alwaysTold = new Set(['metadata', 'tools']);

function readInput(root: Place, rules: WireRules): InputItem[] {
  const input = root.at('input');
  if (input === undefined || input.kind === 'null') return [];
  if (input.kind === 'string') {
    return [{ place: input, facets: new Facets(), message: { role: 'user', content: input.text ?? '' } }];
  }
  if (input.kind !== 'array') throw invalidRequest('`input` is neither a text nor a list', 'input');
  const names = new Map<string, string>();
  return input.items.map((place, entry) => {
    const facets = new Facets();
    const at = `input[${entry}]`;
    const head = readItem({ place, owner: input, entry, path: '' }, facets, requestReading(at, rules, names));
    for (const { id, name } of facets.calls) names.set(id, name);
    return { place, facets, message: describe(head, facets) };
  });
}

function requestReading(at: string, rules: WireRules, names: ReadonlyMap<string, string>): Reading {
  const where = (path: string) => (path === '' ? at : `${at}.${path}`);
  return {
    rules,
    unknown: (kind, path) => unknownInRequest(String(kind), where(path)),
    reference: (path) => unreadableReference(where(path)),
    malformed: (path) => invalidRequest(`${where(path)} is not what the API takes there`, where(path)),
    toolName: (callId) => names.get(callId) ?? '',
  };
}

/** Model calls since the user's last message, from 1: what models say and call in one go counts once. */
function countRound(messages: readonly ChatMessage[]): number {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const begins = since.filter(
    ({ role }, index) => role === 'assistant' && since[index - 1]?.role !== 'assistant',
  );
  return begins.length + 1;
}

function listToolResults(items: readonly InputItem[]): ClientToolResult[] {
  const calls = new Map<string, { readonly name: string; readonly args: Json }>();
  return items.flatMap(({ facets, message }, index) => {
    for (const { id, name, args } of facets.calls) calls.set(id, { name, args });
    const { tool_result: result } = message;
    if (message.role !== 'tool' || !isResult(result)) return [];
    const { id: callId } = result;
    return [{ callId, call: calls.get(callId), content: message.content, isError: false, index }];
  });
}

function isResult(value: unknown): value is { readonly id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

/** Whether a message is nothing but its text. */
function isPlain(message: ChatMessage): boolean {
  return Object.entries(plainReplaced(message)).every(
    ([key, value]) => key === 'role' || key === 'content' || value === undefined || value === null,
  );
}

/** A message of a hook's own. Throws REPLY_MALFORMED for what is more than its text. */
function formatMessage(message: ChatMessage): string {
  const { role, content } = message;
  if (role === 'tool' || !isPlain(message))
    throw unwritable('a message that hooks added is more than a text');
  return JSON.stringify({ role, content });
}

function requireString(root: Place, key: string): string | undefined {
  const place = root.at(key);
  if (place === undefined || place.kind === 'null') return undefined;
  if (place.text === undefined) throw invalidRequest(`\`${key}\` is not a text`, key);
  return place.text;
}
