import { isSameToTheDigit } from '../../../base/json/equal.ts';
import type { Channel, StreamWriter, WireRequest } from '../codec.ts';
import { Edits, numberAt, openPlace, type Place } from '../place.ts';
import { type Refusal, unwritable } from '../refusal.ts';
import { formatEvent, type SseEvent } from '../sse.ts';
import { openResponse } from './answer.ts';
import { ResponsesRequest } from './request.ts';
import {
  eventKinds,
  parseChannel,
  partLists,
  type StreamedText,
  textOfChannel,
  textOfItem,
  textOfPart,
} from './shapes.ts';

type JsonMembers = Readonly<Record<string, string>>;

interface ClientItem {
  readonly id: string;
  readonly type: string;
  /** By path, joined with slashes. */
  readonly texts: Map<string, string>;
  readonly parts: Map<string, string>;
  readonly ended: Set<string>;
  done: Place | undefined;
}

export class ResponsesStreamWriter implements StreamWriter {
  readonly #request: WireRequest;
  /** Sent events that are parsed only if the stream is rewritten. */
  #unread: SseEvent[] = [];
  readonly #items = new Map<number, ClientItem>();
  #response: Place | undefined;
  #isEnded = false;
  #sequence = -1;
  /** The last event that only reports the response's state. It serves as the keep-alive. */
  #progress: string | undefined;

  constructor(request: WireRequest) {
    this.#request = request;
  }

  verbatim(event: SseEvent): string {
    this.#unread.push(event);
    // `[DONE]` has no event name.
    if (event.data.trim() === '[DONE]') return formatEvent(event.data);
    return formatEvent(event.data, event.event ?? openPlace(event.data).at('type')?.text);
  }

  text(channel: Channel, text: string): string {
    this.#read();
    const { index, list, at, member, itemId } = parseChannel(channel.key);
    const kind = textOfChannel(channel.member, list);
    const events = [this.#open()];
    const about = { item_id: JSON.stringify(itemId), output_index: String(index) };
    let item = this.#items.get(index);
    if (item === undefined) {
      const begun =
        kind.item === 'message' ? { status: 'in_progress', role: 'assistant', content: [] } : { summary: [] };
      const json = JSON.stringify({ id: itemId, type: kind.item, ...begun });
      events.push(this.#event('output_item.added', { output_index: String(index), item: json }));
      item = this.#addItem(index, itemId, kind.item);
    }
    const { event: partEvent, index: partIndex } = partLists[kind.list ?? 'content'];
    // Parts must be opened in order, so earlier empty parts are opened first.
    for (let open = 0; open <= at; open += 1) {
      const partPath = `${list}/${open}`;
      if (item.parts.has(partPath)) continue;
      item.parts.set(partPath, kind.part ?? '');
      const lists = kind.event === 'output_text' && { annotations: [], logprobs: [] };
      const part = JSON.stringify({ type: kind.part, [member]: '', ...lists });
      events.push(this.#event(`${partEvent}.added`, { ...about, [partIndex]: String(open), part }));
    }
    addText(item, `${list}/${at}/${member}`, text);
    const where = { ...about, [partIndex]: String(at) };
    events.push(this.#event(...deltaEvent(kind, text, where)));
    return events.join('');
  }

  finish(body: string): string {
    this.#read();
    if (this.#isEnded) throw unwritable('the stream has ended already');
    // A line feed after the body would end the event's data.
    const { written, indexes } = this.#match(openPlace(body.trim()));
    const root = openPlace(written);
    const events = [this.#open(root)];
    if (new Set(indexes.filter((index) => index !== undefined)).size !== this.#items.size)
      throw unwritable('the answer lacks an item that was already sent');
    let next = 0;
    for (const [position, item] of (root.at('output')?.items ?? []).entries()) {
      next = Math.max(next, indexes[position] === undefined ? position : 0);
      while (this.#items.has(next)) next += 1;
      const index = indexes[position] ?? next++;
      for (const [type, members] of restOfItem(item, this.#items.get(index)))
        events.push(this.#event(type, { output_index: String(index), ...members }));
    }
    const status = root.at('status')?.text ?? '';
    const end = status === 'failed' || status === 'incomplete' ? status : 'completed';
    // Codex ignores the native refusal, so it gets a completed response with the text.
    const isRefusal = root.at('incomplete_details')?.at('reason')?.text === 'content_filter';
    events.push(
      this.#isFromCodex && isRefusal
        ? this.#event('completed', { response: withMembers(root, completed).apply() })
        : this.#event(end, { response: root.json.text }),
    );
    this.#isEnded = true;
    return events.join('');
  }

  fail(refusal: Refusal): string {
    const { code, message, param, status, details } = refusal;
    this.#read();
    const failed = this.#isFromCodex && !refusal.isRetryable ? this.#failForCodex(message) : '';
    this.#sequence += 1;
    const type = status >= 500 ? 'server_error' : 'invalid_request_error';
    // The API sends these members at the top level. Its servers and the openai package also know `error`.
    const members = { ...details, code, message, param: param ?? null };
    const event = { type: 'error', sequence_number: this.#sequence, ...members, error: { ...members, type } };
    return failed + formatEvent(JSON.stringify(event), 'error');
  }

  wait(): string {
    this.#read();
    if (this.#isEnded) return '';
    if (this.#progress === undefined && this.#response === undefined) return ': wait\n\n';
    // Repeats the last sequence number, so that later events continue from it.
    this.#progress ??= formatEvent(
      `{"type":"response.in_progress","sequence_number":${this.#sequence},"response":${this.#response?.json.text}}`,
      'response.in_progress',
    );
    return this.#progress;
  }

  get #isFromCodex(): boolean {
    return this.#request instanceof ResponsesRequest && this.#request.isFromCodex;
  }

  #failForCodex(message: string): string {
    const response = {
      ...openResponse(this.#request.model, this.#response?.at('id')?.text),
      status: 'failed',
      error: { code: 'invalid_prompt', message },
    };
    return this.#event('failed', { response: JSON.stringify(response) });
  }

  #open(root?: Place): string {
    if (this.#response !== undefined) return '';
    let response: string;
    if (root === undefined) response = JSON.stringify(openResponse(this.#request.model));
    else {
      const edits = withMembers(root, opened);
      if (root.at('output_text') !== undefined) edits.remove(root, 'output_text');
      response = edits.apply();
    }
    this.#response = openPlace(response);
    return this.#event('created', { response }) + this.#event('in_progress', { response });
  }

  #event(type: string, members: JsonMembers): string {
    this.#sequence += 1;
    const rest = Object.entries(members).map(([key, json]) => `,${JSON.stringify(key)}:${json}`);
    const name = `response.${type}`;
    return formatEvent(`{"type":"${name}","sequence_number":${this.#sequence}${rest.join('')}}`, name);
  }

  #read(): void {
    const events = this.#unread;
    this.#unread = [];
    for (const { data } of events) if (data.trim() !== '[DONE]') this.#note(openPlace(data));
  }

  #note(root: Place): void {
    const sequence = root.at('sequence_number')?.value;
    if (typeof sequence === 'number') this.#sequence = Math.max(this.#sequence, sequence);
    const type = root.at('type')?.text ?? '';
    const kind = eventKinds.get(type);
    if (kind?.is === 'response') {
      this.#isEnded ||= kind.isEnd;
      this.#response = root.at('response');
      if (type === 'response.in_progress') this.#progress = formatEvent(root.source, type);
    }
    if (kind === undefined || kind.is === 'response' || kind.is === 'rest') return;
    const index = numberAt(root, 'output_index') ?? -1;
    const path = kind.path
      .map((key) => (key.endsWith('_index') ? Number(root.at(key)?.value) : key))
      .join('/');
    let item = this.#items.get(index);
    if (kind.is === 'delta') addText(item, path, root.at('delta')?.text ?? '');
    else if (kind.is === 'text') item?.ended.add(path);
    else {
      const place = root.at(kind.member);
      const own = place?.at('type')?.text ?? '';
      if (path === '') {
        item ??= this.#addItem(index, place?.at('id')?.text ?? '', own);
        if (kind.isEnd) item.done = place;
        return;
      }
      item?.parts.set(path, own);
      if (kind.isEnd) item?.ended.add(path);
      for (const key of ['text', 'refusal']) {
        const text = place?.at(key)?.text;
        if (text !== undefined && item?.texts.has(`${path}/${key}`) === false)
          item.texts.set(`${path}/${key}`, text);
      }
    }
  }

  #addItem(index: number, id: string, type: string): ClientItem {
    const item = { id, type, texts: new Map(), parts: new Map(), ended: new Set<string>(), done: undefined };
    this.#items.set(index, item);
    return item;
  }

  /** A stand-in has its own IDs, so the body gets the client's. Returns the client's index for each item. */
  #match(root: Place) {
    const edits = new Edits(root.source);
    const known = this.#response?.at('id')?.text;
    const response = root.at('id');
    if (response?.kind === 'string' && known !== undefined) edits.replaceText(response, known);
    const output = root.at('output')?.items ?? [];
    const ids = new Set(output.map((item) => item.at('id')?.text));
    const sent = new Map([...this.#items].map(([index, { id }]) => [id, index]));
    const open = [...this.#items.values()].filter(({ done, id }) => done === undefined && !ids.has(id));
    const indexes = output.map((item) => {
      const own = item.at('id');
      let id = own?.text ?? '';
      if (own !== undefined && (own.text === undefined || !sent.has(id))) {
        const at = open.findIndex(({ type }) => type === item.at('type')?.text);
        const [taken] = at === -1 ? [] : open.splice(at, 1);
        if (taken !== undefined) edits.replaceText(own, taken.id);
        id = taken?.id ?? id;
      }
      return id === '' ? undefined : sent.get(id);
    });
    return { written: edits.apply(), indexes };
  }
}

function addText(item: ClientItem | undefined, path: string, text: string): void {
  item?.texts.set(path, (item.texts.get(path) ?? '') + text);
}

// --- what a client lacks ---

type Events = Generator<readonly [type: string, members: JsonMembers]>;

/** Throws REPLY_MALFORMED if the client has content that the item does not begin with. */
function* restOfItem(item: Place, have: ClientItem | undefined): Events {
  if (have?.done !== undefined) {
    if (!isSameToTheDigit(have.done.json, item.json)) throw contradiction();
    return;
  }
  const type = item.at('type')?.text ?? '';
  if (have !== undefined && have.type !== type) throw contradiction();
  const id = item.at('id');
  const hasParts = type === 'message' || type === 'reasoning';
  const text = textOfItem(type);
  if (id?.kind !== 'string') {
    if (have === undefined) yield ['output_item.added', { item: item.json.text }];
  } else {
    const texts = { status: 'in_progress', [text?.member ?? '']: '' };
    if (have === undefined)
      yield ['output_item.added', { item: emptyCopy(item, texts, hasParts ? ['content', 'summary'] : []) }];
    const about = { item_id: JSON.stringify(id.text) };
    const whole = item.at(text?.member ?? '')?.text;
    if (type === 'reasoning') yield* restOfParts(item, 'summary', about, have);
    if (hasParts) yield* restOfParts(item, 'content', about, have);
    else if (text !== undefined && whole !== undefined) {
      const rest = restOf(whole, have?.texts.get(text.member));
      if (rest !== '') yield deltaEvent(text, rest, about);
      if (have?.ended.has(text.member) !== true) yield doneEvent(text, whole, about);
    }
  }
  yield ['output_item.done', { item: item.json.text }];
}

function* restOfParts(
  item: Place,
  list: keyof typeof partLists,
  about: JsonMembers,
  have: ClientItem | undefined,
): Events {
  const parts = item.at(list)?.items ?? [];
  for (const path of have?.parts.keys() ?? []) {
    const [sent, index] = path.split('/');
    if (sent === list && Number(index) >= parts.length) throw contradiction();
  }
  const { event, index } = partLists[list];
  for (const [at, part] of parts.entries()) {
    const path = `${list}/${at}`;
    const where = { ...about, [index]: String(at) };
    const type = part.at('type')?.text;
    const streamed = textOfPart(type ?? '');
    const textPath = `${path}/${streamed?.member}`;
    const text = streamed && (part.at(streamed.member)?.text ?? '');
    const rest = restOf(text ?? '', text === undefined ? '' : have?.texts.get(textPath));
    const openType = have?.parts.get(path);
    if (openType !== undefined && openType !== type) throw contradiction();
    const isEnded = have?.ended.has(textPath) === true;
    if (rest !== '' && have?.ended.has(path) === true) throw contradiction();
    if (have?.ended.has(path) === true) continue;
    if (openType === undefined)
      yield [
        `${event}.added`,
        { ...where, part: emptyCopy(part, { [streamed?.member ?? '']: '' }, ['annotations', 'logprobs']) },
      ];
    if (streamed !== undefined && text !== undefined) {
      if (rest !== '' && isEnded) throw contradiction();
      if (rest !== '') yield deltaEvent(streamed, rest, where);
      for (const [nth, { json }] of (part.at('annotations')?.items ?? []).entries())
        if (have?.parts.has(`${path}/annotations/${nth}`) !== true)
          yield [
            'output_text.annotation.added',
            { ...where, annotation_index: String(nth), annotation: json.text },
          ];
      if (!isEnded) yield doneEvent(streamed, text, where);
    }
    yield [`${event}.done`, { ...where, part: part.json.text }];
  }
}

function deltaEvent({ event }: StreamedText, text: string, about: JsonMembers): [string, JsonMembers] {
  return [`${event}.delta`, { ...about, delta: JSON.stringify(text), ...tokensOf(event) }];
}

function doneEvent({ event, member }: StreamedText, text: string, about: JsonMembers): [string, JsonMembers] {
  return [`${event}.done`, { ...about, [member]: JSON.stringify(text), ...tokensOf(event) }];
}

function tokensOf(event: string): JsonMembers {
  return event === 'output_text' ? { logprobs: '[]' } : {};
}

function restOf(text: string, sent = ''): string {
  if (!text.startsWith(sent)) throw contradiction();
  return text.slice(sent.length);
}

function contradiction(): Error {
  return unwritable('the answer does not begin with the part that was already sent');
}

// --- values at their beginning ---

function emptyCopy(
  { json }: Place,
  texts: Readonly<Record<string, string>>,
  lists: readonly string[],
): string {
  const root = openPlace(json.text);
  const edits = new Edits(root.source);
  for (const [key, text] of Object.entries(texts)) {
    const place = root.at(key);
    if (place?.kind === 'string') edits.replaceText(place, text);
  }
  for (const key of lists) {
    const list = root.at(key);
    if (list?.kind === 'array') edits.replace(list, '[]');
  }
  return edits.apply();
}

/** Members that change at the end. All others are known at the start. */
const opened: JsonMembers = {
  status: '"in_progress"',
  output: '[]',
  usage: 'null',
  error: 'null',
  incomplete_details: 'null',
  completed_at: 'null',
};

const completed: JsonMembers = { status: '"completed"', incomplete_details: 'null' };

function withMembers(root: Place, members: JsonMembers): Edits {
  const edits = new Edits(root.source);
  for (const [key, value] of Object.entries(members)) {
    const place = root.at(key);
    if (place !== undefined) edits.replace(place, value);
  }
  return edits;
}
