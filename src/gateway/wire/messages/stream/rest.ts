import { isSameToTheDigit } from '../../../../json/equal.ts';
import { Json } from '../../../../json/json.ts';
import { unwritable } from '../../faults.ts';
import type { Place } from '../../place.ts';
import type { AssembledBlock } from './assembled-block.ts';
import { blockStop, delta } from './events.ts';
import { newBlock } from './new-block.ts';

/**
 * The data of the events that a client with these blocks lacks of a message. Texts that stand side by side may be divided
 * otherwise than the client has them. Throws REPLY_MALFORMED when it has what the message does not begin with.
 */
export function* writeRest(message: Place, sent: readonly AssembledBlock[]): Generator<string> {
  const rest = new RestOfBlocks(message.at('content')?.items ?? []);
  for (const [index, block] of sent.entries()) {
    if (!block.isOpen) rest.take(block);
    else {
      yield* rest.goOn(index, block);
      yield blockStop(index);
    }
  }
  let index = sent.length;
  for (const block of rest.left()) {
    yield* newBlock(index, block.place, block.from);
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
    if (type !== 'text' && type !== 'thinking' && this.#isSame(open)) return this.#next();
    if (type === 'text') this.#takeText(text);
    else if (type === 'thinking' && typeOf(this.#block) === type) this.#takeOwn(text);
    else throw contradicted();
    const block = this.#block;
    if (block === undefined || typeOf(block) !== type) return;
    if (this.#text !== '') {
      const json = JSON.stringify(this.#text);
      yield type === 'text'
        ? delta(index, 'text_delta', 'text', json)
        : delta(index, 'thinking_delta', 'thinking', json);
    }
    yield* sealsOf(index, block);
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
    return textOf(this.#block).slice(this.#taken);
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

function* sealsOf(index: number, block: Place): Generator<string> {
  for (const { json } of block.at('citations')?.items ?? [])
    yield delta(index, 'citations_delta', 'citation', json.text);
  const signature = block.at('signature');
  if (signature !== undefined) yield delta(index, 'signature_delta', 'signature', signature.json.text);
}

function typeOf(block: Place | undefined): string | undefined {
  return block?.at('type')?.text;
}

function textOf(block: Place | undefined): string {
  return block?.at(typeOf(block) === 'thinking' ? 'thinking' : 'text')?.text ?? '';
}

function contradicted() {
  return unwritable('what has gone out of the answer already is not its beginning');
}
