import { isSameToTheDigit } from '../../../base/json/equal.ts';
import { isObject, Json } from '../../../base/json/json.ts';
import type { ChatMessage } from '../../../contract/provider.ts';
import { joinPrompt, type RequestedTools, readTools, splitPrompt } from '../bodies.ts';
import type { ClientToolResult, RequestPayload, WireRequest, WireRules } from '../codec.ts';
import { bodySpot, Edits, numberAt, openPlace, openStrictly, type Place } from '../place.ts';
import { invalidRequest, refuse, unknownInRequest, unwritable } from '../refusal.ts';
import { alignReplaced, plainReplaced, type ReplacedMessage, requireTold } from '../replaced-messages.ts';
import { rewrite } from '../rewrite.ts';
import { type DescribedCall, describe, describeCall, Seen, type TextFacet } from '../seen.ts';
import { walk } from '../walk.ts';
import { requestShape } from './shapes.ts';

/** Throws RefusedCall (400). */
export function readMessagesRequest(body: string, rules: WireRules): WireRequest {
  const root = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  const model = root.at('model');
  if (model?.kind !== 'string') throw invalidRequest('`model` is not a string', 'model');
  const stream = root.at('stream');
  if (stream !== undefined && stream.kind !== 'boolean' && stream.kind !== 'null')
    throw invalidRequest('`stream` is neither true nor false', 'stream');
  const read = readBody(root, rules);
  return {
    model: model.text ?? '',
    isStream: stream?.value === true,
    maxTokens: numberAt(root, 'max_tokens'),
    choices: 1,
    payload: read.payload,
    toolResults: read.messages.flatMap(({ told, result }, index) => {
      if (result === undefined) return [];
      const { callId, call, isError } = result;
      const named = call && { name: call.name, args: call.args };
      return [{ callId, call: named, content: told.content, isError, index } satisfies ClientToolResult];
    }),
    places: read.messages.map(({ place }) => place),
    write: (changed, name) => {
      const edits = new Edits(body);
      edits.replaceText(model, name);
      const wanted = writeBody(changed, read, edits);
      const written = edits.apply();
      if (wanted !== undefined && written !== body)
        requireTold(readBody(openPlace(written), rules).payload.messages, wanted);
      return written;
    },
  };
}

interface ReadMessage {
  readonly told: ChatMessage;
  readonly seen: Seen;
  readonly wire: number;
  readonly place: string;
  readonly result: ToolResult | undefined;
}

interface ToolResult {
  readonly callId: string;
  readonly call: DescribedCall | undefined;
  readonly isError: boolean;
}

interface ReadBody {
  readonly body: Seen;
  readonly list: Place;
  readonly messages: readonly ReadMessage[];
  readonly tools: RequestedTools;
  readonly payload: RequestPayload;
}

function readBody(root: Place, rules: WireRules): ReadBody {
  requireOneModel(root, rules);
  const list = root.at('messages');
  if (list?.kind !== 'array') throw invalidRequest('`messages` is not a list', 'messages');
  for (const [index, item] of list.items.entries()) requireMessage(item, `messages[${index}]`);
  const body = new Seen(root);
  walk(bodySpot(root), requestShape, { rules, isAnswer: false, at: '' }, body);
  const stray = body.body.find((facet) => facet.kind === 'media');
  if (stray !== undefined) throw unknownInRequest(stray.description.type, `system[${stray.entry}]`);
  const calls = new Map<string, DescribedCall>();
  const messages = body.messages.flatMap((seen, wire) =>
    readParts(seen).map((part) => readMessage(part, { seen, wire }, calls)),
  );
  const tools = readTools(root, { lists: ['tools'], hold: (tool) => tool, schema: 'input_schema' });
  const told = messages.map((message) => message.told);
  const lastUser = told.findLastIndex(({ role }) => role === 'user');
  const payload = {
    messages: told,
    system_prompt: joinPrompt(promptOf(body).map(({ place }) => place.text ?? '')),
    round: 1 + told.slice(lastUser + 1).filter(({ role }) => role === 'assistant').length,
    tools: tools.listings,
    options: { max_tokens: numberAt(root, 'max_tokens'), temperature: numberAt(root, 'temperature') },
    other: body.other.json ?? new Json('{}'),
  };
  return { body, list, messages, tools, payload };
}

/** Refuses members that let another model answer, unless the config allows them. */
function requireOneModel(root: Place, { references }: WireRules): void {
  if (references.has('fallbacks')) return;
  const isGiven = (place: Place | undefined) => place !== undefined && place.kind !== 'null';
  const tools = root.at('tools')?.items ?? [];
  const tool = tools.findIndex((each) => isGiven(each.at('model')));
  const param = isGiven(root.at('fallbacks'))
    ? 'fallbacks'
    : tool === -1
      ? undefined
      : `tools[${tool}].model`;
  if (param === undefined) return;
  const message = `${param} lets models other than \`model\` answer, but limits and prices follow \`model\`; spec.gateway.references of the config may let it pass as "fallbacks"`;
  throw refuse(400, 'unreadable_reference', message, { param });
}

const roles: Readonly<Record<string, ChatMessage['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
};

function requireMessage(item: Place, at: string): void {
  const role = item.at('role')?.text;
  if (role === undefined || !Object.hasOwn(roles, role))
    throw invalidRequest(`${at}.role is not what the API takes there`, `${at}.role`);
  const content = item.at('content');
  if ((content === undefined || content.kind === 'null') && role !== 'system')
    throw invalidRequest(`${at}.content is missing`, `${at}.content`);
}

function promptOf({ body }: Seen): TextFacet[] {
  return body.filter((facet) => facet.kind === 'text');
}

function readParts(seen: Seen): readonly Seen[] {
  const [first] = seen.messages;
  if (first === undefined) return [seen];
  first.other.addAll(seen.other, '');
  return seen.messages;
}

function readMessage(
  part: Seen,
  { seen, wire }: { readonly seen: Seen; readonly wire: number },
  calls: Map<string, DescribedCall>,
): ReadMessage {
  const { span, place: object } = part;
  const at = `messages[${wire}]`;
  const place = span === undefined || isWhole(part, seen) ? at : `${at}.content[${span.start}]`;
  if (span === undefined || object.kind === 'array') {
    const told = describe(part, roles[seen.place.at('role')?.text ?? ''] ?? 'user');
    for (const call of part.calls.map(describeCall)) calls.set(call.id, call);
    return { told, seen: part, wire, place, result: undefined };
  }
  const callId = part.links.get('id')?.place.text;
  if (callId === undefined) throw invalidRequest(`${place}.tool_use_id is missing`, `${place}.tool_use_id`);
  for (const call of part.calls.map(describeCall)) calls.set(call.id, call);
  const call = calls.get(callId);
  const isError = object.at('is_error')?.value === true;
  const { content, ...told } = describe(part, 'tool');
  const result = { id: callId, name: call?.name ?? '', ...(isError && { error: content }) };
  return {
    told: { ...told, role: 'tool', content, tool_result: result },
    seen: part,
    wire,
    place,
    result: { callId, call, isError },
  };
}

function isWhole({ span, place }: Seen, { messages }: Seen): boolean {
  return place.kind === 'array' && messages.length === 1 && span?.start === 0;
}

/** Returns the messages that the written body must contain, if they were replaced. */
function writeBody(
  changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
  { body, list, messages, tools, payload }: ReadBody,
  edits: Edits,
): readonly ChatMessage[] | undefined {
  if (changed.system_prompt !== payload.system_prompt) writePrompt(changed.system_prompt, body, edits);
  const isOtherSame = changed.other === payload.other || isSameToTheDigit(changed.other, payload.other);
  if (!isOtherSame) body.other.write(changed.other, edits, body.place);
  tools.write(changed.tools, edits);
  return changed.messages === payload.messages
    ? undefined
    : writeMessages(changed.messages, { list, messages }, edits);
}

/** An inseparable prompt becomes the text of the last block, which may mark the cached prefix. */
function writePrompt(changed: string, body: Seen, edits: Edits): void {
  const texts = promptOf(body);
  const old = texts.map(({ place }) => place.text ?? '');
  const pieces =
    splitPrompt(old, changed) ?? old.map((_, index) => (index === old.length - 1 ? changed : ''));
  if (texts.length === 0) {
    const system = body.place.at('system');
    if (system === undefined) edits.addMember(body.place, 'system', JSON.stringify(changed));
    else edits.replaceWhole(system, JSON.stringify(changed));
  }
  for (const [index, { place, owner, entry }] of texts.entries()) {
    const piece = pieces[index] ?? '';
    if (piece === '' && old[index] !== '' && typeof entry === 'number') edits.remove(owner, entry);
    else edits.replaceText(place, piece);
  }
}

function writeMessages(
  changed: readonly ChatMessage[],
  { list, messages }: Pick<ReadBody, 'list' | 'messages'>,
  edits: Edits,
): readonly ChatMessage[] {
  const sent = messages.map(({ told }) => told);
  const aligned = alignReplaced(sent, changed);
  const kept = new Set(aligned.map(({ index }) => index));
  requireWholeCalls(messages, aligned, kept);
  const wanted = aligned.map(({ message, index, isSame }, at) => {
    const old = index === undefined ? undefined : messages[index];
    if (old !== undefined) return isSame ? message : writeMessage(old, message, edits);
    const next = aligned.slice(at).find((other) => other.index !== undefined)?.index;
    edits.insert(list, newMessage(message), next === undefined ? undefined : messages[next]?.wire);
    return message;
  });
  const wiresKept = new Set(messages.flatMap(({ wire }, index) => (kept.has(index) ? [wire] : [])));
  for (const [index, { wire, seen }] of messages.entries()) {
    if (kept.has(index)) continue;
    if (!wiresKept.has(wire)) edits.remove(list, wire);
    else {
      seen.other.write(undefined, edits);
      const blocks = list.items[wire]?.at('content');
      for (let entry = seen.span?.start ?? 0; entry < (seen.span?.end ?? 0); entry += 1)
        if (blocks !== undefined) edits.remove(blocks, entry);
    }
  }
  return wanted;
}

/** The API refuses a call without its result and vice versa. */
function requireWholeCalls(
  sent: readonly ReadMessage[],
  aligned: readonly ReplacedMessage[],
  kept: ReadonlySet<number | undefined>,
): void {
  if (aligned.every(({ isSame }) => isSame) && aligned.length === sent.length) return;
  const calls = new Set(
    aligned.flatMap(({ message }) => {
      const list = message.role === 'assistant' ? plainReplaced(message)['tool_calls'] : undefined;
      return Array.isArray(list)
        ? list.map((call: unknown) => (isObject(call) ? call['id'] : undefined))
        : [];
    }),
  );
  for (const [index, { result }] of sent.entries())
    if (result?.call !== undefined && kept.has(index) !== calls.has(result.callId))
      throw unwritable('a hook removed a tool call or its result, but not both');
}

function writeMessage({ told, seen, result }: ReadMessage, changed: ChatMessage, edits: Edits): ChatMessage {
  const own = new Set(result === undefined ? [] : ['tool_result']);
  const wanted = rewrite(seen, told, changed, edits, { isAnswer: false, dropsEmpty: true, own });
  if (result === undefined) return wanted;
  const given = wanted['tool_result'];
  if (!isObject(given) || given['id'] !== result.callId)
    throw unwritable('a replaced tool message is the result of another call, or of none');
  const isError = given['error'] !== undefined && given['error'] !== null;
  if (isError === result.isError) return wanted;
  const flag = seen.place.at('is_error');
  if (flag === undefined) edits.addMember(seen.place, 'is_error', String(isError));
  else edits.replace(flag, String(isError));
  return wanted;
}

function newMessage(message: ChatMessage): string {
  const { role, content, ...rest } = plainReplaced(message);
  const isPlain = Object.values(rest).every((value) => value === undefined || value === null);
  if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string' || !isPlain)
    throw unwritable('a new message must only be the text of a user or assistant');
  return JSON.stringify({ role, content });
}
