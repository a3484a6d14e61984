import { isSameByValue } from '../../../base/json/equal.ts';
import { isObject, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import type { Channel, StreamPart, StreamReader, WireAnswer, WireRules } from '../codec.ts';
import { bodySpot, openStrictly } from '../place.ts';
import { invalidAnswer, unknownEvent, unknownInAnswer } from '../refusal.ts';
import { Seen } from '../seen.ts';
import type { SseEvent } from '../sse.ts';
import { passesUnread, walk } from '../walk.ts';
import { readChatAnswer } from './answer.ts';
import { chunkShape, finishWords } from './shapes.ts';

const eventNames = new Set(['', 'message', 'chat.completion.chunk', 'error']);

/** Whether an event has a name that no client of this endpoint reads. */
export function isForeignEvent({ event }: SseEvent): boolean {
  return event !== undefined && !eventNames.has(event);
}

export class ChatStreamReader implements StreamReader {
  readonly #rules: WireRules;
  readonly #assembly = new ChatAssembly();
  #isDone = false;

  constructor(rules: WireRules) {
    this.#rules = rules;
  }

  push(event: SseEvent): StreamPart {
    const { event: name, data } = event;
    if (isForeignEvent(event)) {
      if (!passesUnread(name, this.#rules)) throw unknownEvent(name);
      return { kind: 'held' };
    }
    if (this.#isDone) throw invalidAnswer('its stream continues after its end');
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return { kind: 'end' };
    }
    const chunk = readChunk(event);
    const error = chunk.members.get('error');
    if (name === 'error' || (error !== undefined && error !== null)) return { kind: 'error' };
    const deltas = chunk.choices.flatMap(({ index, texts }) =>
      texts.map(({ member, key, text }) => ({
        channel: { key: `${index}.${key}`, choice: index, member },
        text,
      })),
    );
    this.#assembly.add(chunk);
    for (const choice of chunk.choices) this.#requireOneReasoning(choice);
    if (chunk.isHeld) return { kind: 'held' };
    return deltas.length === 0 ? { kind: 'free' } : { kind: 'text', deltas };
  }

  answer(): WireAnswer {
    if (this.#assembly.choices.size === 0) throw invalidAnswer('its stream has no answer');
    const choices = [...this.#assembly.choices.values()];
    if (!this.#isDone && choices.some(({ finishReason }) => finishReason === undefined))
      throw invalidAnswer('its stream ended early');
    if (choices.some(({ index }) => index >= choices.length))
      throw invalidAnswer('a choice of its stream is missing');
    return readChatAnswer(this.#assembly.toBody(), this.#rules);
  }

  #requireOneReasoning({ index }: ChunkChoice): void {
    const choice = this.#assembly.choice(index);
    const [one, other] = [choice.text('reasoning_content'), choice.text('reasoning')];
    if (one !== '' && other !== '' && one !== other)
      throw invalidAnswer('its stream gives its reasoning in two ways');
  }
}

// --- chunks ---

interface Chunk {
  readonly members: Members;
  readonly choices: readonly ChunkChoice[];
  readonly judged: readonly string[];
  /** Whether the chunk has members that must wait for the whole response. */
  readonly isHeld: boolean;
}

interface ChunkChoice {
  readonly index: number;
  readonly delta: Members;
  readonly finishReason: string | undefined;
  readonly members: Members;
  readonly texts: readonly {
    readonly member: Channel['member'];
    readonly key: string;
    readonly text: string;
  }[];
}

const MAX_CHOICES = 128;

/** Parses a chunk and caches it by event. Throws RefusedCall (502). */
export function readChunk(event: SseEvent): Chunk {
  const known = chunks.get(event);
  if (known !== undefined) return known;
  const place = openStrictly(event.data, (problem) => invalidAnswer(`a frame of its stream ${problem}`));
  const value = parseLossless(place.source);
  if (!isObject(value)) throw invalidAnswer('a frame of its stream is not an object');
  const members: Members = new Map(Object.entries(value));
  const choices = members.get('choices') ?? [];
  members.delete('choices');
  if (!Array.isArray(choices)) throw invalidAnswer('the choices of a frame are not a list');
  const seen = new Seen(place);
  walk(bodySpot(place), chunkShape, { rules: anything, isAnswer: true, at: '' }, seen);
  const chunk = {
    members,
    choices: choices.map((choice, at) => toChoice(choice, seen.messages[at] ?? seen)),
    judged: [...seen.other.paths].map((path) => path.replace(/[.['].*$/s, '')),
    isHeld: !seen.other.isEmpty || !seen.messages.every(isOfTexts),
  };
  chunks.set(event, chunk);
  return chunk;
}

const chunks = new WeakMap<SseEvent, Chunk>();
const anything = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };

function toChoice(choice: unknown, seen: Seen): ChunkChoice {
  if (!isObject(choice)) throw invalidAnswer('a choice of a frame is not an object');
  const members: Members = new Map(Object.entries(choice));
  const index = members.get('index');
  const delta = members.get('delta') ?? {};
  const finish = members.get('finish_reason') ?? undefined;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= MAX_CHOICES)
    throw invalidAnswer('a choice of a frame has no index');
  if (!isObject(delta)) throw invalidAnswer('a delta of a frame is not an object');
  if (finish !== undefined && typeof finish !== 'string')
    throw invalidAnswer('a finish_reason of a frame is not a string');
  for (const key of ['index', 'delta', 'finish_reason']) members.delete(key);
  return {
    index,
    delta: new Map(Object.entries(delta)),
    finishReason: finish === '' ? undefined : finish,
    members,
    texts: textsOf(seen),
  };
}

function textsOf({ body, refusals, reasoning }: Seen): ChunkChoice['texts'] {
  const found = [
    ['content', body[0]],
    ['refusal', refusals[0]],
    ['reasoning', reasoning[0]],
  ] as const;
  return found.flatMap(([member, facet]) => {
    const text = facet?.kind === 'text' ? facet.place.text : undefined;
    return facet === undefined || text === undefined || text === ''
      ? []
      : [{ member, key: String(facet.entry), text }];
  });
}

function isOfTexts({ other, finish }: Seen): boolean {
  return other.isEmpty && (finish === undefined || finish.place.text === '');
}

// --- the response ---

/** A Map, because a key may be `__proto__`. */
type Members = Map<string, unknown>;

/** Assembles the frames of a stream into the unstreamed response. Works like OpenAI's SDK, but loses no text. */
export class ChatAssembly {
  readonly #members: Members = new Map();
  readonly choices = new Map<number, ChoiceAssembly>();
  /** Members with a value that hooks must see. Their earlier texts are not overwritten. */
  readonly #judged = new Set<string>();

  add({ members, choices, judged }: Chunk): void {
    for (const key of judged) this.#judged.add(key);
    for (const [key, value] of members) this.#addMember(key, value);
    for (const choice of choices) this.choice(choice.index).add(choice);
  }

  member(key: string): unknown {
    return this.#members.get(key);
  }

  choice(index: number): ChoiceAssembly {
    const known = this.choices.get(index);
    if (known !== undefined) return known;
    const choice = new ChoiceAssembly(index);
    this.choices.set(index, choice);
    return choice;
  }

  toBody(): string {
    const choices = [...this.choices.values()].toSorted((one, other) => one.index - other.index);
    const members: Members = new Map(this.#members);
    if (!this.#judged.has('object')) members.set('object', 'chat.completion');
    members.set(
      'choices',
      choices.map((choice) => choice.toValue()),
    );
    return stringifyJson(Object.fromEntries(members));
  }

  /** For unjudged members, such as IDs, the last value counts. Padding is dropped. */
  #addMember(key: string, value: unknown): void {
    const before = this.#members.get(key);
    const isJudged = this.#judged.has(key);
    if (key === 'obfuscation' && !isJudged) return;
    const replaces = !isJudged && value !== null && value !== '';
    this.#members.set(key, replaces ? value : mergeValues(before, value, false));
  }
}

const texts = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);

export class ChoiceAssembly {
  readonly index: number;
  finishReason: string | undefined;
  readonly #message: Members = new Map();
  readonly #members: Members = new Map();
  readonly #calls = new Map<number, Members>();
  #isIndexed: boolean | undefined;

  constructor(index: number) {
    this.index = index;
  }

  get hasRole(): boolean {
    return typeof this.#message.get('role') === 'string';
  }

  text(key: string): string {
    const value = this.#message.get(key);
    return typeof value === 'string' ? value : '';
  }

  add({ delta, finishReason, members }: ChunkChoice): void {
    for (const [key, value] of delta) this.#addDelta(key, value);
    for (const [key, value] of members) {
      // Some servers repeat the whole message beside each delta.
      const name = key === 'message' ? 'message_so_far' : key;
      this.#members.set(name, mergeValues(this.#members.get(name), value, name === 'logprobs'));
    }
    this.#end(finishReason);
  }

  toValue(): Readonly<Record<string, unknown>> {
    const message: Members = new Map([
      ['role', 'assistant'],
      ['content', null],
      ['refusal', null],
      ...this.#message,
    ]);
    const calls = [...this.#calls].toSorted(([one], [other]) => one - other);
    if (calls.length > 0)
      message.set(
        'tool_calls',
        calls.map(([, call]) => Object.fromEntries(call)),
      );
    return {
      index: this.index,
      message: Object.fromEntries(message),
      logprobs: null,
      ...Object.fromEntries(this.#members),
      finish_reason: this.finishReason ?? null,
    };
  }

  #end(reason: string | undefined): void {
    const before = this.finishReason;
    if (reason === undefined || reason === before) return;
    const isKnown =
      Object.hasOwn(finishWords, reason) && (before === undefined || Object.hasOwn(finishWords, before));
    if (before !== undefined && !isKnown) throw invalidAnswer('a choice of its stream ends twice');
    this.finishReason = reason;
  }

  #addDelta(key: string, value: unknown): void {
    if (key === 'tool_calls') this.#addCalls(value);
    else if (key === 'role') {
      if (value !== 'assistant' && value !== '' && value !== null)
        throw unknownInAnswer('a role of its stream');
      if (value === 'assistant') this.#message.set(key, value);
    } else if (key === 'function_call') {
      const merged = mergeFunction(this.#message.get(key), value, 'arguments');
      if (merged !== undefined) this.#message.set(key, merged);
    } else {
      if (texts.has(key)) requirePiece(value);
      this.#message.set(key, mergeValues(this.#message.get(key), value, true));
    }
  }

  #addCalls(deltas: unknown): void {
    if (deltas === undefined || deltas === null) return;
    if (!Array.isArray(deltas)) throw invalidAnswer('the tool calls of a frame are not a list');
    for (const delta of deltas) this.#addCall(delta);
  }

  #addCall(delta: unknown): void {
    if (!isObject(delta)) throw invalidAnswer('a tool call of a frame is not an object');
    const index = this.#indexOf(delta);
    const call: Members = this.#calls.get(index) ?? new Map();
    this.#calls.set(index, call);
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'index') continue;
      if (key === 'function') call.set(key, mergeFunction(call.get(key), value, 'arguments'));
      else if (key === 'custom') call.set(key, mergeFunction(call.get(key), value, 'input'));
      else if (key === 'id' || key === 'type') setOnce(call, key, value);
      else call.set(key, mergeValues(call.get(key), value, true));
    }
  }

  /**
   * Some servers, such as Gemini's, omit the index. Then the ID decides, or a name starts a new call, or there is only
   * one call. A mix of both forms is refused as ambiguous.
   */
  #indexOf(delta: Readonly<Record<string, unknown>>): number {
    const { index, id } = delta;
    this.#isIndexed ??= index !== undefined && index !== null;
    if (this.#isIndexed) {
      if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CALLS)
        return index;
      throw invalidAnswer('a tool call of a frame has no index');
    }
    const isNew =
      isText(id) ||
      [delta['function'], delta['custom']].some((held) => isObject(held) && isText(held['name']));
    const known = isText(id)
      ? this.#calls.entries().find(([, call]) => call.get('id') === id)?.[0]
      : undefined;
    const found = known ?? (isNew ? this.#calls.size : this.#calls.size === 1 ? 0 : undefined);
    if ((index !== undefined && index !== null) || found === undefined || found >= MAX_CALLS)
      throw invalidAnswer('a tool call of a frame has no index, and could belong to several calls');
    return found;
  }
}

const MAX_CALLS = 1024;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function mergeFunction(before: unknown, value: unknown, growing: string): unknown {
  if (value === undefined || value === null) return before;
  if (!isObject(value)) throw invalidAnswer('a tool call of a frame is not an object');
  const merged: Members = new Map(Object.entries(before ?? {}));
  for (const [key, member] of Object.entries(value)) {
    if (key === 'name') setOnce(merged, key, member);
    else if (key === growing && isObject(member))
      throw invalidAnswer('the arguments of a tool call are not a string');
    else if (key === growing) merged.set(key, mergeValues(merged.get(key), requirePiece(member), true));
    else merged.set(key, mergeValues(merged.get(key), member, true));
  }
  return Object.fromEntries(merged);
}

/** Clients disagree about a second value: some append, others replace. So it is refused. */
function setOnce(members: Members, key: string, value: unknown): void {
  const before = members.get(key) ?? '';
  if (value === undefined || value === null || value === '' || value === before) {
    if (!members.has(key) && value !== undefined) members.set(key, value);
    return;
  }
  if (before !== '') throw invalidAnswer(`a tool call has two values of \`${key}\``);
  members.set(key, value);
}

/**
 * No client has rules for these members, so no text may be lost. If `grows`, texts are pieces. Otherwise equal texts
 * are repetitions.
 */
function mergeValues(before: unknown, value: unknown, grows: boolean): unknown {
  if (before === undefined || before === null) return value;
  if (value === undefined || value === null) return before;
  if (typeof before === 'string' && typeof value === 'string') {
    return !grows && before === value ? before : before + value;
  }
  if (Array.isArray(before) && Array.isArray(value)) return mergeLists(before, value, grows);
  if (isTree(before) && isTree(value)) return mergeTrees(before, value, () => grows);
  return isFigure(before) && isFigure(value) ? value : [before, value];
}

/** Clients also join numbers and lists to a text, which hooks would see separately. Throws RefusedCall (502). */
function requirePiece(value: unknown): unknown {
  const isPiece =
    typeof value === 'string' ||
    value === null ||
    isTree(value) ||
    (Array.isArray(value) && value.every(isTree));
  if (!isPiece) throw invalidAnswer('a text of its stream has another type');
  return value;
}

/** Elements with an equal `index` are merged, as in OpenRouter's `reasoning_details`. */
function mergeLists(begun: unknown[], value: readonly unknown[], grows: boolean): unknown[] {
  if (!grows && isSameByValue(begun, value)) return begun;
  // Copied only once, because many frames may add an element.
  const merged = own.has(begun) ? begun : [...begun];
  own.add(merged);
  for (const item of value) {
    const index = placeOf(item);
    const at = index === undefined ? -1 : merged.findIndex((each) => placeOf(each) === index);
    const before = merged[at];
    if (!isTree(before) || !isTree(item)) merged.push(item);
    // These members are repeated in every piece.
    else merged[at] = mergeTrees(before, item, (key) => !['type', 'format', 'id'].includes(key));
  }
  return merged;
}

const own = new WeakSet<readonly unknown[]>();

function mergeTrees(before: object, value: object, grows: (key: string) => boolean): unknown {
  const merged: Members = new Map(Object.entries(before));
  for (const [key, member] of Object.entries(value))
    merged.set(key, mergeValues(merged.get(key), member, grows(key)));
  return Object.fromEntries(merged);
}

function placeOf(item: unknown): number | undefined {
  if (!isTree(item)) return undefined;
  const { index } = item;
  return typeof index === 'number' ? index : undefined;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !JSON.isRawJSON(value);
}

function isFigure(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || JSON.isRawJSON(value);
}
