import { type Entity, entityNames } from './entity.ts';

/** An entity, or `LITERAL` for original text that only looks like a pseudonym. */
export type PseudonymKind = Entity;

export interface PseudonymMention {
  readonly name: PseudonymKind;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

export interface PseudonymResolver {
  /** Undefined if the pseudonym is unknown or ambiguous. */
  reveal(mention: Pick<PseudonymMention, 'name' | 'number'>): string | undefined;
}

/**
 * The pseudonyms of one conversation, such as `<EMAIL_ADDRESS_1>`, numbered by first occurrence. Numbers depend only on
 * the texts and their order, so that other processes get the same ones.
 */
export class Pseudonyms {
  readonly #numbers = new Map<string, number>();
  readonly #values = new Map<string, string>();
  readonly #counters = new Map<PseudonymKind, number>();

  nameFor(name: PseudonymKind, value: string): string {
    const key = `${name} ${value}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = (this.#counters.get(name) ?? 0) + 1;
      this.#counters.set(name, number);
      this.#numbers.set(copyText(key), number);
      this.#values.set(`${name} ${number}`, copyText(value));
    }
    return `<${name}_${number}>`;
  }

  reserve({ name, number }: PseudonymMention): void {
    this.#counters.set(name, Math.max(number, this.#counters.get(name) ?? 0));
  }

  reveal({ name, number }: Pick<PseudonymMention, 'name' | 'number'>): string | undefined {
    return this.#values.get(`${name} ${number}`);
  }

  *entries(): Generator<readonly [pseudonym: string, value: string]> {
    yield* this.#values;
  }

  get size(): number {
    return this.#values.size;
  }
}

/**
 * Also accepts models' spellings: other case, an added space or escaped brackets. A name without brackets is not a
 * pseudonym.
 */
export function findPseudonyms(text: string, ownNames: readonly string[] = []): PseudonymMention[] {
  if (!text.includes('_')) return [];
  return [...text.matchAll(mentionOf(ownNames.join('|')))].map((match) => {
    const [whole, name = '', number] = match;
    return {
      name: name.toUpperCase(),
      number: Number(number),
      start: match.index,
      end: match.index + whole.length,
    };
  });
}

const known = [...entityNames, 'LITERAL'].join('|');
const mentions = new Map<string, RegExp>();

function mentionOf(ownNames: string): RegExp {
  let mention = mentions.get(ownNames);
  if (mention === undefined) {
    const names = ownNames === '' ? known : `${ownNames}|${known}`;
    mention = new RegExp(`(?:<|&lt;) ?(${names})_([1-9]\\d{0,6}) ?(?:>|&gt;)`, 'gi');
    mentions.set(ownNames, mention);
  }
  return mention;
}

/** Copies a substring so that it does not keep the whole text in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
