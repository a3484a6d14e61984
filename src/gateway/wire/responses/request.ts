import { Json } from '../../../base/json/json.ts';
import type { ChatMessage } from '../../../contract/provider.ts';
import { type RequestedTools, readTools } from '../bodies.ts';
import type { ClientHeaders, ClientToolResult, RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { bodySpot, Edits, memberSpot, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidRequest, unreadableReference, unwritable } from '../refusal.ts';
import { alignReplaced, plainReplaced, requireTold } from '../replaced-messages.ts';
import { rewrite } from '../rewrite.ts';
import { type DescribedCall, describe, describeCall, Leftovers, Seen } from '../seen.ts';
import { isShaped, walk } from '../walk.ts';
import { inputItem, requestMembers, resultKinds } from './shapes.ts';

interface InputItem {
  readonly place: Place;
  readonly seen: Seen;
  readonly message: ChatMessage;
}

type Changed = Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>;

/** Throws RefusedCall (400). */
export function readRequest(body: string, rules: WireRules, headers: ClientHeaders = {}): ResponsesRequest {
  const root = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  if (root.kind !== 'object') throw invalidRequest('the body is not an object');
  requireReadable(root, rules);
  return new ResponsesRequest(root, rules, isCodex(headers));
}

/**
 * References to stored content need the config's permission, because hooks cannot read it. `store: true` only stores
 * what hooks have read. Throws RefusedCall (400).
 */
function requireReadable(root: Place, { references }: WireRules): void {
  const isGiven = (place: Place | undefined) => place !== undefined && place.kind !== 'null';
  for (const key of ['previous_response_id', 'conversation', 'prompt']) {
    if (isGiven(root.at(key)) && !references.has(key)) throw unreadableReference(key);
  }
  const background = root.at('background');
  if (isGiven(background) && background?.value !== false && !references.has('background'))
    throw unreadableReference('background');
  for (const [index, item] of (root.at('input')?.items ?? []).entries()) {
    if (isReference(item) && !references.has('item_reference')) throw unreadableReference(`input[${index}]`);
  }
}

function isReference(item: Place): boolean {
  const type = item.at('type');
  if (type !== undefined && type.kind !== 'null') return type.text === 'item_reference';
  return item.kind === 'object' && item.at('role') === undefined && item.at('id') !== undefined;
}

export class ResponsesRequest implements WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices = 1;
  readonly payload: RequestPayload;
  readonly toolResults: readonly ClientToolResult[];
  readonly places: readonly string[];
  /** Whether only `response.completed` ends the response for the client. */
  readonly isFromCodex: boolean;
  readonly #root: Place;
  readonly #items: readonly InputItem[];
  readonly #leftovers = new Leftovers();
  readonly #tools: RequestedTools;
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
    this.isStream = root.at('stream')?.value === true;
    this.maxTokens = typeof maxTokens === 'number' ? maxTokens : undefined;
    this.#items = readInput(root, rules);
    this.#tools = readTools(root, {
      lists: ['tools'],
      hold: (tool) => (['function', 'custom'].includes(tool.at('type')?.text ?? '') ? tool : undefined),
      schema: 'parameters',
    });
    for (const [key, place] of root.members) {
      if (readByThemselves.has(key) || isShaped(place, key, requestMembers)) continue;
      this.#leftovers.add(key, { place, owner: root, entry: key });
    }
    this.payload = this.#describe();
    const isText = root.at('input')?.kind === 'string';
    this.places = this.#items.map((_, index) => (isText ? 'input' : `input[${index}]`));
    this.toolResults = listToolResults(this.#items);
  }

  /** The body as last written for the upstream, or as the client sent it. */
  get sent(): Place {
    return this.#sent;
  }

  write(changed: Changed, model: string): string {
    const edits = new Edits(this.#root.source);
    this.#writeMessages(changed.messages, edits);
    this.#writeSystemPrompt(changed.system_prompt, edits);
    this.#leftovers.write(changed.other, edits, this.#root);
    this.#tools.write(changed.tools, edits);
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
      tools: this.#tools.listings,
      options: {
        ...(this.maxTokens !== undefined && { max_tokens: this.maxTokens }),
        ...(typeof temperature === 'number' && { temperature }),
      },
      other: this.#leftovers.json ?? new Json('{}'),
    };
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
    if (input?.kind === 'string') {
      const [only] = changed;
      if (changed.length === 1 && only?.role === 'user' && isPlain(only))
        edits.replaceText(input, only.content);
      else edits.replace(input, `[${changed.map(formatMessage).join(',')}]`);
    } else if (input?.kind === 'array') this.#writeItems(input, changed, edits);
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
    const { seen, place, message: sent } = item;
    if (isPlain(message) && seen.body.length === 0 && message.content !== '') {
      edits.replace(place, formatMessage(message));
      return;
    }
    rewrite(seen, sent, message, edits, { isAnswer: false });
  }
}

const readByThemselves = new Set(['model', 'input', 'instructions']);

function readInput(root: Place, rules: WireRules): InputItem[] {
  const input = memberSpot(bodySpot(root), 'input');
  if (input === undefined || input.place.kind === 'null') return [];
  const { place: list } = input;
  if (list.kind === 'string')
    return [{ place: list, seen: new Seen(list), message: { role: 'user', content: list.text ?? '' } }];
  if (list.kind !== 'array') throw invalidRequest('`input` is neither a text nor a list', 'input');
  for (const [index, item] of list.items.entries()) requireItem(item, `input[${index}]`);
  const all = new Seen(root);
  walk(input, { each: inputItem }, { rules, isAnswer: false, at: '' }, all);
  const names = new Map<string, string>();
  return all.messages.map((seen) => {
    for (const { id, name } of seen.calls) names.set(id, name);
    const { place } = seen;
    const { role, ...more } = headOf(place, names);
    return { place, seen, message: { ...describe(seen, role), ...more } };
  });
}

function requireItem(item: Place, at: string): void {
  if (item.kind !== 'object') throw invalidRequest(`${at} is not an item`, at);
  const role = item.at('role')?.text ?? '';
  if (item.at('role') !== undefined && (item.at('type')?.text ?? 'message') === 'message' && !roles.has(role))
    throw invalidRequest(`${at}.role is not what the API takes there`, `${at}.role`);
}

const roles: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer']);

function headOf(
  item: Place,
  names: ReadonlyMap<string, string>,
): Pick<ChatMessage, 'role'> & Readonly<Record<string, unknown>> {
  const type = item.at('type')?.text ?? 'message';
  if (Object.hasOwn(resultKinds, type)) {
    const kind = resultKinds[type];
    const id = item.at(kind?.id ?? '')?.text ?? '';
    const name = item.at('name')?.text ?? names.get(id) ?? kind?.name ?? '';
    return { role: 'tool', tool_result: { id, name } };
  }
  if (type === 'mcp_approval_response') {
    const id = item.at('approval_request_id')?.text ?? '';
    return { role: 'tool', tool_approval: { id, approved: item.at('approve')?.value } };
  }
  const role = item.at('role')?.text;
  if (role === 'system' || role === 'developer') return { role: 'system' };
  return { role: role === 'user' && type === 'message' ? role : 'assistant' };
}

/** Consecutive messages and calls of the model count as one. */
function countRound(messages: readonly ChatMessage[]): number {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const begins = since.filter(
    ({ role }, index) => role === 'assistant' && since[index - 1]?.role !== 'assistant',
  );
  return begins.length + 1;
}

function listToolResults(items: readonly InputItem[]): ClientToolResult[] {
  const calls = new Map<string, DescribedCall>();
  return items.flatMap(({ seen, message }, index) => {
    for (const call of seen.calls) calls.set(call.id, describeCall(call));
    const { tool_result: result } = message;
    if (!isResult(result)) return [];
    const { id: callId } = result;
    return [{ callId, call: calls.get(callId), content: message.content, isError: false, index }];
  });
}

function isResult(value: unknown): value is { readonly id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

function isPlain(message: ChatMessage): boolean {
  return Object.entries(plainReplaced(message)).every(
    ([key, value]) => key === 'role' || key === 'content' || value === undefined || value === null,
  );
}

function formatMessage(message: ChatMessage): string {
  const { role, content } = message;
  if (role === 'tool' || !isPlain(message))
    throw unwritable('a message that hooks added must only be a text');
  return JSON.stringify({ role, content });
}

function requireString(root: Place, key: string): string | undefined {
  const place = root.at(key);
  if (place === undefined || place.kind === 'null') return undefined;
  if (place.text === undefined) throw invalidRequest(`\`${key}\` is not a text`, key);
  return place.text;
}

/**
 * Whether `originator` and `user-agent` name Codex. It ignores `response.incomplete` and error events and retries
 * without `response.completed`. It accepts `response.failed` as final only with the code `invalid_prompt`. Source:
 * codex-rs/codex-api/src/sse/responses.rs of openai/codex.
 */
export function isCodex(headers: ClientHeaders): boolean {
  return [headers['originator'], headers['user-agent']].some(
    (value) => typeof value === 'string' && /^codex/i.test(value),
  );
}
