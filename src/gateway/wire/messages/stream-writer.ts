import { isSameToTheDigit } from '../../../json/equal.ts';
import { Json } from '../../../json/json.ts';
import type { Channel, StreamWriter } from '../codec.ts';
import { unwritable } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import { formatEvent } from '../sse.ts';
import { formatError } from './answer.ts';
import { type AssembledBlock, AssembledMessage, textKey, withMembers } from './assembly.ts';
import { type DeltaKind, deltaKinds, endMembers } from './shapes.ts';

/** Writes the events of `POST /v1/messages` with `stream: true`, in forms that the accumulators of @anthropic-ai/sdk accept. */
export function createStreamWriter(): StreamWriter {
  const sent = new AssembledMessage();
  const send = (data: string): string => {
    const event = openPlace(data);
    sent.add(event);
    return formatEvent(data, event.at('type')?.text ?? '');
  };
  return {
    verbatim: ({ data }) => (data === '' ? '' : send(data)),
    text: (channel, text) => {
      const opened = sent.isBegun ? [] : [send(beginMessage(unknownMessage))];
      return [...opened, ...textEvents(channel, text, sent).map(send)].join('');
    },
    finish: (body) => {
      const message = openPlace(body);
      if (sent.isEnded) throw unwritable('the client has the end of another answer');
      const events = [
        ...(sent.isBegun ? [] : [beginMessage(message)]),
        ...writeRest(message, sent.blocks),
        endMessage(message),
        '{"type":"message_stop"}',
      ];
      return events.map(send).join('');
    },
    fail: (refusal) => formatEvent(formatError(refusal), 'error'),
    wait: () => send('{"type":"ping"}'),
  };
}

/** The text goes on in the open block of its kind, or begins one. */
function* textEvents({ member }: Channel, text: string, sent: AssembledMessage): Generator<string> {
  const type = member === 'reasoning' ? 'thinking' : 'text';
  const open = sent.openBlock;
  if (open !== undefined && open.type !== type) yield blockStop(sent.blocks.length - 1);
  if (open?.type !== type) yield blockStart(sent.blocks.length, emptyBlocks[type]);
  yield blockDelta(sent.blocks.length - 1, `${type}_delta`, type, JSON.stringify(text));
}

const emptyBlocks = {
  text: '{"type":"text","text":"","citations":null}',
  thinking: '{"type":"thinking","thinking":"","signature":""}',
} as const;

// --- the data of events ---

const unknownMessage = openPlace(
  JSON.stringify({
    id: 'msg_signalbox',
    type: 'message',
    role: 'assistant',
    model: '',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
);

function beginMessage(message: Place): string {
  const ended = endMembers.filter((key) => key !== 'container' && message.at(key) !== undefined);
  const begun = new Map([['content', '[]'], ...ended.map((key) => [key, 'null'] as const)]);
  return `{"type":"message_start","message":${withMembers(message, begun)}}`;
}

function endMessage(message: Place): string {
  const texts = (...keys: readonly string[]) =>
    keys.flatMap((key) => {
      const place = message.at(key);
      return place === undefined ? [] : [`${JSON.stringify(key)}:${place.json.text}`];
    });
  const late = texts('usage', 'context_management', 'input_transformations');
  return `{${['"type":"message_delta"', `"delta":{${texts(...endMembers).join(',')}}`, ...late].join(',')}}`;
}

function blockStart(index: number, block: string): string {
  return `{"type":"content_block_start","index":${index},"content_block":${block}}`;
}

function blockStop(index: number): string {
  return `{"type":"content_block_stop","index":${index}}`;
}

function blockDelta(index: number, type: string, member: string, json: string): string {
  return `{"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":${json}}}`;
}

/** The deltas that tell a block, its text from a position on. */
function* blockDeltas(index: number, block: Place, from: number): Generator<string> {
  for (const [type, kind] of tellingDeltas(block)) {
    const place = block.at(kind.to);
    const tell = (json: string) => blockDelta(index, type, kind.from, json);
    if (kind.how === 'list') yield* place?.items.map(({ json }) => tell(json.text)) ?? [];
    // Of a call that was cut off the text of its arguments is told as it came.
    else if (kind.how === 'json') yield tell(JSON.stringify(place?.text ?? place?.json.text));
    else {
      const text = place?.text?.slice(kind.how === 'grows' ? from : 0) ?? '';
      if (text !== '') yield tell(JSON.stringify(text));
    }
  }
}

/** The kinds of deltas that can tell members of a block; what none can tell stands in its beginning. */
function tellingDeltas(block: Place): (readonly [string, DeltaKind])[] {
  const type = typeOf(block) ?? '';
  return Object.entries(deltaKinds).filter(([, { of, how, to }]) => {
    const kind = block.at(to)?.kind;
    if (!of.includes(type) || how === 'all' || kind === undefined) return false;
    return how === 'json' || kind === (how === 'list' ? 'array' : 'string');
  });
}

const begun = { grows: '""', once: '""', list: '[]', json: '{}', all: '' } as const;

/** The events that tell a whole block, its text from a position on. */
function* newBlock(index: number, block: Place, from: number): Generator<string> {
  const changes = new Map(tellingDeltas(block).map(([, { to, how }]) => [to, begun[how]]));
  yield blockStart(index, withMembers(block, changes));
  yield* blockDeltas(index, block, from);
  yield blockStop(index);
}

// --- what a client lacks ---

/**
 * The data of the events that a client with these blocks lacks of a message. Texts that stand side by side may be divided
 * otherwise than the client has them. Throws REPLY_MALFORMED when it has what the message does not begin with.
 */
function* writeRest(message: Place, sent: readonly AssembledBlock[]): Generator<string> {
  const rest = new RestOfBlocks(message.at('content')?.items ?? []);
  for (const [index, block] of sent.entries()) {
    if (!block.isOpen) rest.take(block);
    else {
      yield* rest.goOn(index, block);
      yield blockStop(index);
    }
  }
  let index = sent.length;
  for (const { place, from } of rest.left()) {
    yield* newBlock(index, place, from);
    index += 1;
  }
}

/** The blocks of a message behind what a client has. */
class RestOfBlocks {
  readonly #blocks: readonly Place[];
  #at = 0;
  /** How much of the text of the first of them the client has. */
  #taken = 0;

  constructor(blocks: readonly Place[]) {
    this.#blocks = blocks;
  }

  /** Passes over a block that the client has whole. */
  take(block: AssembledBlock): void {
    if (this.#taken === 0 && this.#isSame(block)) this.#next();
    else if (block.type === 'text') this.#takeText(block.text);
    else {
      if (this.#taken > 0 && this.#text === '') this.#next();
      if (this.#taken > 0 || !this.#isSame(block)) throw contradicted();
      this.#next();
    }
  }

  /** What an open block of the client lacks. */
  *goOn(index: number, open: AssembledBlock): Generator<string> {
    const { type, text } = open;
    // A block that begins whole, such as one of thinking that only the model can read, lacks its end alone.
    if (textKey(type) === undefined && this.#isSame(open)) return this.#next();
    if (type === 'text') this.#takeText(text);
    else if (type === 'thinking' && typeOf(this.#block) === type) this.#takeOwn(text);
    else throw contradicted();
    const block = this.#block;
    if (block === undefined || typeOf(block) !== type) return;
    yield* blockDeltas(index, block, this.#taken);
    this.#next();
  }

  /** What the client has nothing of, or only the beginning of its text. */
  *left(): Generator<{ readonly place: Place; readonly from: number }> {
    for (; this.#block !== undefined; this.#next()) {
      if (this.#taken === 0 || this.#text !== '') yield { place: this.#block, from: this.#taken };
    }
  }

  get #block(): Place | undefined {
    return this.#blocks[this.#at];
  }

  /** Of the first block, the text that the client lacks. */
  get #text(): string {
    const text = this.#block?.at(textKey(typeOf(this.#block)) ?? '')?.text ?? '';
    return text.slice(this.#taken);
  }

  #next(): void {
    this.#at += 1;
    this.#taken = 0;
  }

  #isSame({ json }: AssembledBlock): boolean {
    return this.#block !== undefined && isSameToTheDigit(this.#block.json, new Json(json));
  }

  #takeText(text: string): void {
    for (let left = text; left !== ''; ) {
      if (typeOf(this.#block) !== 'text') throw contradicted();
      const own = this.#text.slice(0, left.length);
      if (own === '') this.#next();
      else left = left.slice(this.#takeOwn(left.slice(0, own.length)));
    }
  }

  #takeOwn(text: string): number {
    if (!this.#text.startsWith(text)) throw contradicted();
    this.#taken += text.length;
    return text.length;
  }
}

function typeOf(block: Place | undefined): string | undefined {
  return block?.at('type')?.text;
}

function contradicted() {
  return unwritable('what has gone out of the answer already is not its beginning');
}
