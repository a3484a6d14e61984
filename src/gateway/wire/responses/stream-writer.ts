import { isSameToTheDigit } from '../../../json/equal.ts';
import type { Channel, StreamWriter, WireRequest } from '../codec.ts';
import { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import type { Refusal } from '../refusal.ts';
import { formatEvent, type SseEvent } from '../sse.ts';
import { type ClientItem, ClientView } from './client-view.ts';
import { ResponsesRequest } from './request.ts';
import { completedResponse, newResponseId, openedResponse, openResponse } from './response-body.ts';
import { parseChannel } from './streamed-item.ts';

/** Writes a streamed response, going on from what the client has. */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #request: WireRequest;
  readonly #view = new ClientView();
  /** Events that went out and were not looked at: most streams leave as they came. */
  #unread: SseEvent[] = [];

  constructor(request: WireRequest) {
    this.#request = request;
  }

  verbatim(event: SseEvent): string {
    this.#unread.push(event);
    return formatEvent(event.data, nameOf(event));
  }

  text(channel: Channel, text: string): string {
    const view = this.#read();
    const { index, path, itemId } = parseChannel(channel.key);
    const [list = '', at = 0, member = ''] = path;
    const kind = textKinds[`${channel.member}/${list}`] ?? textKinds['content/content'];
    if (kind === undefined) throw unwritable('a text has no place in the stream');
    const events = [this.#open()];
    const about = { item_id: JSON.stringify(itemId), output_index: String(index) };
    const item = view.items.get(index) ?? this.#addItem(index, itemId, { kind, events });
    // A part cannot come before those in front of it, which have no text yet.
    for (let open = 0; open <= Number(at); open += 1) {
      const partPath = `${list}/${open}`;
      if (item.parts.has(partPath)) continue;
      item.parts.set(partPath, kind.part);
      const part = JSON.stringify(emptyTextPart(kind.part, member));
      events.push(this.#event(`${kind.partEvent}.added`, { ...about, [kind.index]: String(open), part }));
    }
    const partAt = { [kind.index]: String(at) };
    view.addText(index, path, text);
    const tokens = kind.part === 'output_text' ? { logprobs: '[]' } : {};
    const delta = JSON.stringify(text);
    events.push(this.#event(`${kind.textEvent}.delta`, { ...about, ...partAt, delta, ...tokens }));
    return events.join('');
  }

  finish(body: string): string {
    const view = this.#read();
    if (view.isEnded) throw unwritable('the stream has ended already');
    // A line feed behind the body would end the data of an event.
    const root = openPlace(this.#withKnownIds(openPlace(body.trim())));
    const events = [this.#open(root)];
    const output = root.at('output')?.items ?? [];
    const indexes = placeItems(output, view.items);
    for (const [position, place] of output.entries()) {
      const index = indexes[position] ?? position;
      const have = view.items.get(index);
      const id = place.at('id')?.text ?? '';
      sendItem({
        place,
        id,
        have,
        send: (type, members) => events.push(this.#event(type, { output_index: String(index), ...members })),
      });
    }
    const status = root.at('status')?.text ?? '';
    const end = status === 'failed' || status === 'incomplete' ? status : 'completed';
    const response = this.#isRefusalForCodex(root) ? completedResponse(root) : root.json.text;
    events.push(this.#event(response === root.json.text ? end : 'completed', { response }));
    view.isEnded = true;
    return events.join('');
  }

  fail(refusal: Refusal): string {
    const { code, message, param, status, details } = refusal;
    const view = this.#read();
    const failed = this.#isFromCodex && !refusal.isRetryable ? this.#failForCodex(refusal) : '';
    view.sequence += 1;
    const type = status >= 500 ? 'server_error' : 'invalid_request_error';
    // The API tells them beside `type`, its servers and the openai package also know the `error` of other answers.
    const told = { ...details, code, message, param: param ?? null };
    const event = { type: 'error', sequence_number: view.sequence, ...told, error: { ...told, type } };
    return failed + formatEvent(JSON.stringify(event), 'error');
  }

  wait(): string {
    const view = this.#read();
    if (view.isEnded) return '';
    if (view.progress !== undefined) return view.progress;
    if (view.response === undefined) return ': wait\n\n';
    // The number of the last event, so that those which follow go on from it.
    const data = `{"type":"response.in_progress","sequence_number":${view.sequence},"response":${view.response.json.text}}`;
    view.progress = formatEvent(data, 'response.in_progress');
    return view.progress;
  }

  #read(): ClientView {
    const events = this.#unread;
    this.#unread = [];
    for (const event of events) this.#view.note(event);
    return this.#view;
  }

  get #isFromCodex(): boolean {
    return this.#request instanceof ResponsesRequest && this.#request.isFromCodex;
  }

  /** Codex passes over the native refusal, so it gets the text as an ordinary answer. */
  #isRefusalForCodex(root: Place): boolean {
    return this.#isFromCodex && root.at('incomplete_details')?.at('reason')?.text === 'content_filter';
  }

  /** What Codex takes for final. */
  #failForCodex({ message }: Refusal): string {
    const id = this.#view.response?.at('id')?.text ?? newResponseId();
    const response = {
      ...openResponse(id, this.#request.model),
      status: 'failed',
      error: { code: 'invalid_prompt', message },
    };
    return this.#event('failed', { response: JSON.stringify(response) });
  }

  /** The events that begin a response, unless the client has them. */
  #open(root?: Place): string {
    const view = this.#view;
    if (view.response !== undefined) return '';
    const response =
      root === undefined
        ? JSON.stringify(openResponse(newResponseId(), this.#request.model))
        : openedResponse(root);
    view.response = openPlace(response);
    return this.#event('created', { response }) + this.#event('in_progress', { response });
  }

  #addItem(index: number, id: string, { kind, events }: { kind: TextKind; events: string[] }): ClientItem {
    const item = { id, type: kind.item, ...kind.begun };
    events.push(
      this.#event('output_item.added', { output_index: String(index), item: JSON.stringify(item) }),
    );
    return this.#view.addItem(index, { id, type: kind.item });
  }

  #event(type: string, members: Readonly<Record<string, string>>): string {
    this.#view.sequence += 1;
    const rest = Object.entries(members).map(([key, json]) => `,${JSON.stringify(key)}:${json}`);
    const name = `response.${type}`;
    return formatEvent(`{"type":"${name}","sequence_number":${this.#view.sequence}${rest.join('')}}`, name);
  }

  /** The body under the ids of what the client has already, as a stand-in has its own. */
  #withKnownIds(root: Place): string {
    const { response, items } = this.#view;
    const edits = new Edits(root.source);
    const id = root.at('id');
    const known = response?.at('id')?.text;
    if (id?.kind === 'string' && known !== undefined) edits.replaceText(id, known);
    const output = root.at('output')?.items ?? [];
    const ids = new Set(output.map((item) => item.at('id')?.text));
    const open = [...items.values()].filter(({ done, id: own }) => done === undefined && !ids.has(own));
    for (const item of output) {
      const own = item.at('id');
      if (own === undefined || [...items.values()].some((have) => have.id === own.text)) continue;
      const at = open.findIndex(({ type }) => type === item.at('type')?.text);
      const [taken] = at === -1 ? [] : open.splice(at, 1);
      if (taken !== undefined) edits.replaceText(own, taken.id);
    }
    return edits.apply();
  }
}

/** The name of an event is its type; the end of a stream has none. */
function nameOf({ event, data }: SseEvent): string | undefined {
  if (data.trim() === '[DONE]') return undefined;
  return event ?? openPlace(data).at('type')?.text;
}

function emptyTextPart(type: string, member: string | number): Readonly<Record<string, unknown>> {
  return { type, [member]: '', ...(type === 'output_text' && { annotations: [], logprobs: [] }) };
}

/** The indexes under which items are sent; throws REPLY_MALFORMED when the client has one that is not among them. */
function placeItems(output: readonly Place[], items: ReadonlyMap<number, ClientItem>): number[] {
  const sent = new Map([...items].map(([index, { id }]) => [id, index]));
  const known = output.map((item) => {
    const id = item.at('id')?.text ?? '';
    return id === '' ? undefined : sent.get(id);
  });
  const matched = new Set(known.filter((index) => index !== undefined));
  if (matched.size !== items.size) throw unwritable('the answer lacks an item that has already gone out');
  let next = 0;
  return known.map((index, position) => {
    if (index !== undefined) return index;
    next = Math.max(next, position);
    while (items.has(next)) next += 1;
    return next++;
  });
}

/** How texts of a channel are sent. */
interface TextKind {
  readonly item: string;
  readonly begun: Readonly<Record<string, unknown>>;
  readonly part: string;
  readonly partEvent: string;
  readonly textEvent: string;
  readonly index: string;
}

const message = { status: 'in_progress', role: 'assistant', content: [] };
const content = { partEvent: 'content_part', index: 'content_index' };
const textKinds: Readonly<Record<string, TextKind>> = {
  'content/content': {
    ...content,
    item: 'message',
    begun: message,
    part: 'output_text',
    textEvent: 'output_text',
  },
  'refusal/content': { ...content, item: 'message', begun: message, part: 'refusal', textEvent: 'refusal' },
  'reasoning/content': {
    ...content,
    item: 'reasoning',
    begun: { summary: [] },
    part: 'reasoning_text',
    textEvent: 'reasoning_text',
  },
  'reasoning/summary': {
    item: 'reasoning',
    begun: { summary: [] },
    part: 'summary_text',
    partEvent: 'reasoning_summary_part',
    textEvent: 'reasoning_summary_text',
    index: 'summary_index',
  },
};

// --- items ---

/** An event without its `type` and numbers: members as JSON text. */
type Send = (type: string, members: Readonly<Record<string, string>>) => void;

/** An item that is to be sent, as far as a client lacks it. */
interface OutgoingItem {
  readonly place: Place;
  /** The id under which the client knows it. */
  readonly id: string;
  /** What the client has of it; undefined: nothing. */
  readonly have: ClientItem | undefined;
  readonly send: Send;
}

/** The events of an item that a client lacks. Throws REPLY_MALFORMED when it has something that the item does not begin with. */
function sendItem(item: OutgoingItem): void {
  const { place, have, send } = item;
  if (have?.done !== undefined) {
    if (!isSameToTheDigit(have.done.json, place.json)) throw contradiction();
    return;
  }
  const type = place.at('type')?.text ?? '';
  if (have !== undefined && have.type !== type) throw contradiction();
  const hasId = place.at('id')?.kind === 'string';
  if (have === undefined)
    send('output_item.added', { item: hasId ? emptyItem(place, type) : place.json.text });
  if (hasId) sendInside(item, type);
  send('output_item.done', { item: place.json.text });
}

function sendInside(item: OutgoingItem, type: string): void {
  if (type === 'reasoning') sendParts(item, summaryParts);
  if (type === 'message' || type === 'reasoning') sendParts(item, messageParts);
  else sendText(item, type);
}

function sendText(item: OutgoingItem, type: string): void {
  const streamed = streamedTexts[type];
  const text = streamed === undefined ? undefined : item.place.at(streamed.member)?.text;
  if (streamed === undefined || text === undefined) return;
  const { have, id, send } = item;
  const rest = restOf(text, have?.texts.get(streamed.member));
  const about = { item_id: JSON.stringify(id) };
  if (rest !== '') send(`${streamed.event}.delta`, { ...about, delta: JSON.stringify(rest) });
  if (have?.ended.has(streamed.member) === true) return;
  send(`${streamed.event}.done`, { ...about, [streamed.member]: JSON.stringify(text) });
}

/** Kinds of items with one text that is streamed. */
const streamedTexts: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  function_call: { member: 'arguments', event: 'function_call_arguments' },
  custom_tool_call: { member: 'input', event: 'custom_tool_call_input' },
  mcp_call: { member: 'arguments', event: 'mcp_call_arguments' },
  code_interpreter_call: { member: 'code', event: 'code_interpreter_call_code' },
};

interface PartKind {
  readonly list: string;
  /** The member of events that tells the index of the part. */
  readonly index: string;
  /** The event of a part without `.added` and `.done`. */
  readonly event: string;
}

const messageParts: PartKind = { list: 'content', index: 'content_index', event: 'content_part' };
const summaryParts: PartKind = { list: 'summary', index: 'summary_index', event: 'reasoning_summary_part' };

/** The member of a part that is streamed, and the name of its events. */
const partTexts: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  output_text: { member: 'text', event: 'output_text' },
  refusal: { member: 'refusal', event: 'refusal' },
  reasoning_text: { member: 'text', event: 'reasoning_text' },
  summary_text: { member: 'text', event: 'reasoning_summary_text' },
};

function sendParts(item: OutgoingItem, kind: PartKind): void {
  const parts = item.place.at(kind.list)?.items ?? [];
  for (const path of item.have?.parts.keys() ?? []) {
    const [list, index] = path.split('/');
    if (list === kind.list && Number(index) >= parts.length) throw contradiction();
  }
  for (const [index, part] of parts.entries()) sendPart(item, { kind, part, index });
}

interface OutgoingPart {
  readonly kind: PartKind;
  readonly part: Place;
  readonly index: number;
}

function sendPart({ id, have, send }: OutgoingItem, { kind, part, index }: OutgoingPart): void {
  const path = `${kind.list}/${index}`;
  const about = { item_id: JSON.stringify(id), [kind.index]: String(index) };
  const streamed = partTexts[part.at('type')?.text ?? ''];
  const text = streamed === undefined ? undefined : (part.at(streamed.member)?.text ?? '');
  const sent = streamed === undefined ? undefined : have?.texts.get(`${path}/${streamed.member}`);
  const rest = text === undefined ? '' : restOf(text, sent);
  const openType = have?.parts.get(path);
  if (openType !== undefined && openType !== part.at('type')?.text) throw contradiction();
  if (have?.ended.has(path) === true) {
    if (rest !== '') throw contradiction();
    return;
  }
  if (openType === undefined)
    send(`${kind.event}.added`, { ...about, part: emptyPart(part, streamed?.member) });
  if (streamed !== undefined && text !== undefined) {
    const tokens = streamed.event === 'output_text' ? { logprobs: '[]' } : {};
    const textPath = `${path}/${streamed.member}`;
    if (rest !== '' && have?.ended.has(textPath) === true) throw contradiction();
    if (rest !== '') send(`${streamed.event}.delta`, { ...about, delta: JSON.stringify(rest), ...tokens });
    for (const [at, annotation] of (part.at('annotations')?.items ?? []).entries()) {
      if (have?.parts.has(`${path}/annotations/${at}`) === true) continue;
      const members = { annotation_index: String(at), annotation: annotation.json.text };
      send('output_text.annotation.added', { ...about, ...members });
    }
    if (have?.ended.has(textPath) !== true)
      send(`${streamed.event}.done`, { ...about, [streamed.member]: JSON.stringify(text), ...tokens });
  }
  send(`${kind.event}.done`, { ...about, part: part.json.text });
}

/** What is left of a text behind what the client has of it. Throws REPLY_MALFORMED. */
function restOf(text: string, sent = ''): string {
  if (!text.startsWith(sent)) throw contradiction();
  return text.slice(sent.length);
}

function contradiction(): Error {
  return unwritable('the answer does not begin with what has already gone out of it');
}

/** The item at its beginning. */
function emptyItem({ json }: Place, type: string): string {
  const root = openPlace(json.text);
  const edits = new Edits(root.source);
  const status = root.at('status');
  if (status?.kind === 'string') edits.replaceText(status, 'in_progress');
  for (const key of ['content', 'summary']) {
    const list = root.at(key);
    if (list?.kind === 'array' && (type === 'message' || type === 'reasoning')) edits.replace(list, '[]');
  }
  const text = root.at(streamedTexts[type]?.member ?? '');
  if (text?.kind === 'string') edits.replaceText(text, '');
  return edits.apply();
}

/** The part at its beginning. */
function emptyPart({ json }: Place, member: string | undefined): string {
  const root = openPlace(json.text);
  const edits = new Edits(root.source);
  const text = root.at(member ?? '');
  if (text?.kind === 'string') edits.replaceText(text, '');
  for (const key of ['annotations', 'logprobs']) {
    const list = root.at(key);
    if (list?.kind === 'array') edits.replace(list, '[]');
  }
  return edits.apply();
}
