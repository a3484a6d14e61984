import { type Entity, entityNames } from './entity.ts';

/** What a pseudonym stands for: an entity, or `LITERAL`, a text of the original that merely looks like a pseudonym. */
export type PseudonymKind = Entity;

/** A pseudonym that stands in a text. */
export interface PseudonymMention {
  readonly name: PseudonymKind;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** Resolves pseudonyms to their values. */
export interface PseudonymResolver {
  /** The value; undefined when the pseudonym is unknown, or stands for several. */
  reveal(mention: Pick<PseudonymMention, 'name' | 'number'>): string | undefined;
}

/**
 * The pseudonyms of one conversation, such as `<EMAIL_ADDRESS_1>`, numbered as their values first appear. The
 * numbers follow from the texts and their order alone, so that another process comes to the same ones.
 */
export class Pseudonyms {
  readonly #numbers = new Map<string, number>();
  readonly #values = new Map<string, string>();
  readonly #counters = new Map<PseudonymKind, number>();

  /** The pseudonym of that value. */
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

  /** Reserves the number of a pseudonym that already stands in a text of the model. */
  reserve({ name, number }: PseudonymMention): void {
    this.#counters.set(name, Math.max(number, this.#counters.get(name) ?? 0));
  }

  /** What a pseudonym stands for; undefined when this conversation has not given it. */
  reveal({ name, number }: Pick<PseudonymMention, 'name' | 'number'>): string | undefined {
    return this.#values.get(`${name} ${number}`);
  }

  /** Every pseudonym with its value. */
  *entries(): Generator<readonly [pseudonym: string, value: string]> {
    yield* this.#values;
  }

  get size(): number {
    return this.#values.size;
  }
}

/**
 * The pseudonyms in a text. Models change the case, add a space inside or escape the brackets, so these forms
 * count too; without brackets a name is no pseudonym.
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

/** Pseudonyms of the package's names and of a user's own, with bars between; a process has one list of these. */
function mentionOf(ownNames: string): RegExp {
  let mention = mentions.get(ownNames);
  if (mention === undefined) {
    const names = ownNames === '' ? known : `${ownNames}|${known}`;
    mention = new RegExp(`(?:<|&lt;) ?(${names})_([1-9]\\d{0,6}) ?(?:>|&gt;)`, 'gi');
    mentions.set(ownNames, mention);
  }
  return mention;
}

/** A copy of a substring that does not keep the whole text in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
