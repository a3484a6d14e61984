import { isObject, stringifyJson } from '../../../json/json.ts';
import { invalidAnswer, unknownInAnswer } from '../faults.ts';
import type { Chunk, ChunkChoice } from './chunk.ts';
import { type Members, mergeValues, requirePiece } from './merge.ts';
import { finishWords } from './shapes.ts';

/** Puts the frames of a stream together as the unstreamed endpoint would have answered; as the SDK of OpenAI does, but loses no text. */
export class ChatAssembly {
  readonly #members: Members = new Map();
  readonly #choices = new Map<number, ChoiceAssembly>();
  /** Members that have had a value which hooks are to see: none of their texts is lost. */
  readonly #judged = new Set<string>();

  get isEmpty(): boolean {
    return this.#choices.size === 0;
  }

  /** Whether all choices have their end. */
  get isFinished(): boolean {
    return (
      !this.isEmpty && [...this.#choices.values()].every(({ finishReason }) => finishReason !== undefined)
    );
  }

  /** Whether the choices are those from 0 on. */
  get isGapless(): boolean {
    return this.#choices.keys().every((index) => index < this.#choices.size);
  }

  add({ members, choices, judged }: Chunk): void {
    for (const key of judged) this.#judged.add(key);
    for (const [key, value] of members) this.#addMember(key, value);
    for (const choice of choices) this.choice(choice.index).add(choice);
  }

  member(key: string): unknown {
    return this.#members.get(key);
  }

  choice(index: number): ChoiceAssembly {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const choice = new ChoiceAssembly(index);
    this.#choices.set(index, choice);
    return choice;
  }

  /** The body of the unstreamed answer. */
  toBody(): string {
    const choices = [...this.#choices.values()].toSorted((one, other) => one.index - other.index);
    const members: Members = new Map(this.#members);
    if (!this.#judged.has('object')) members.set('object', 'chat.completion');
    members.set(
      'choices',
      choices.map((choice) => choice.toValue()),
    );
    return stringifyJson(Object.fromEntries(members));
  }

  /** Of ids and the like the last one counts; padding is nothing. */
  #addMember(key: string, value: unknown): void {
    const before = this.#members.get(key);
    const isJudged = this.#judged.has(key);
    if (key === 'obfuscation' && !isJudged) return;
    const replaces = !isJudged && value !== null && value !== '';
    this.#members.set(key, replaces ? value : mergeValues(before, value, false));
  }
}

/** Members of a delta that clients join. */
const texts = new Set(['content', 'refusal', 'reasoning_content', 'reasoning']);

/** One choice of a stream. */
export class ChoiceAssembly {
  readonly index: number;
  finishReason: string | undefined;
  readonly #message: Members = new Map();
  readonly #members: Members = new Map();
  readonly #calls = new CallAssembly();

  constructor(index: number) {
    this.index = index;
  }

  get hasRole(): boolean {
    return typeof this.#message.get('role') === 'string';
  }

  /** What the message has under that name so far. */
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
      ...(this.#calls.isEmpty ? [] : ([['tool_calls', this.#calls.list()]] as const)),
    ]);
    return {
      index: this.index,
      message: Object.fromEntries(message),
      logprobs: null,
      ...Object.fromEntries(this.#members),
      finish_reason: this.finishReason ?? null,
    };
  }

  /** Of two known words the last one counts, as clients read it. */
  #end(reason: string | undefined): void {
    const before = this.finishReason;
    if (reason === undefined || reason === before) return;
    const isKnown =
      Object.hasOwn(finishWords, reason) && (before === undefined || Object.hasOwn(finishWords, before));
    if (before !== undefined && !isKnown) throw invalidAnswer('a choice of its stream ends twice');
    this.finishReason = reason;
  }

  #addDelta(key: string, value: unknown): void {
    if (key === 'tool_calls') this.#calls.add(value);
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
}

/** The most tool calls of a choice. */
const MAX_CALLS = 1024;

/** Tool calls that come in pieces, by their index. */
class CallAssembly {
  readonly #calls = new Map<number, Members>();
  /** Whether pieces have an index, as the first one had. */
  #isIndexed: boolean | undefined;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(deltas: unknown): void {
    if (deltas === undefined || deltas === null) return;
    if (!Array.isArray(deltas)) throw invalidAnswer('the tool calls of a frame are no list');
    for (const delta of deltas) this.#addCall(delta);
  }

  /**
   * The index that a piece has or, as servers such as Gemini's leave it out, must have: that of the call with its id, of a new call if
   * it names a function, or of the only call. Of calls with and without an index nobody can tell.
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
      throw invalidAnswer('a tool call of a frame has no index, and could be a part of several');
    return found;
  }

  /** The calls in the order of their indexes, which the unstreamed answer does not have. */
  list(): unknown[] {
    return [...this.#calls]
      .toSorted(([one], [other]) => one - other)
      .map(([, call]) => Object.fromEntries(call));
  }

  #addCall(delta: unknown): void {
    if (!isObject(delta)) throw invalidAnswer('a tool call of a frame is no object');
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
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A function whose name comes once, or again as it was, and whose arguments come in pieces. */
function mergeFunction(before: unknown, value: unknown, growing: string): unknown {
  if (value === undefined || value === null) return before;
  if (!isObject(value)) throw invalidAnswer('a tool call of a frame is no object');
  const merged: Members = new Map(Object.entries(before ?? {}));
  for (const [key, member] of Object.entries(value)) {
    if (key === 'name') setOnce(merged, key, member);
    else if (key === growing && isObject(member))
      throw invalidAnswer('the arguments of a tool call come in no text');
    else if (key === growing) merged.set(key, mergeValues(merged.get(key), requirePiece(member), true));
    else merged.set(key, mergeValues(merged.get(key), member, true));
  }
  return Object.fromEntries(merged);
}

/** Some clients would join names, others take the last one: only one reading is let through. */
function setOnce(members: Members, key: string, value: unknown): void {
  const before = members.get(key) ?? '';
  if (value === undefined || value === null || value === '' || value === before) {
    if (!members.has(key) && value !== undefined) members.set(key, value);
    return;
  }
  if (before !== '') throw invalidAnswer(`a tool call has the \`${key}\` of two`);
  members.set(key, value);
}
