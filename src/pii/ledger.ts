import { type Entity, entityNames } from './entity.ts';

/** What a pseudonym stands for: an entity, or a text of the original that merely looks like a pseudonym. */
export type PseudonymName = Entity | 'LITERAL';

/** A pseudonym that stands in a text. */
export interface Mention {
  readonly name: PseudonymName;
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The pseudonyms of one conversation, such as `<EMAIL_ADDRESS_1>`, numbered as their values first appear. The
 * numbers follow from the texts and their order alone, so that another process comes to the same ones.
 */
export class Ledger {
  readonly #numbers = new Map<string, number>();
  readonly #values = new Map<string, string>();
  readonly #counters = new Map<PseudonymName, number>();

  /** The pseudonym of that value. */
  nameFor(name: PseudonymName, value: string): string {
    const key = `${name} ${value}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = (this.#counters.get(name) ?? 0) + 1;
      this.#counters.set(name, number);
      this.#numbers.set(detach(key), number);
      this.#values.set(`${name} ${number}`, detach(value));
    }
    return `<${name}_${number}>`;
  }

  /** Keeps numbers free that already stand for something in a text that a model wrote. */
  reserve({ name, number }: Mention): void {
    this.#counters.set(name, Math.max(number, this.#counters.get(name) ?? 0));
  }

  /** What a pseudonym stands for; undefined when this conversation has not given it. */
  reveal({ name, number }: Pick<Mention, 'name' | 'number'>): string | undefined {
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
 * The pseudonyms in a text. Letters in another case, a space inside and escaped brackets are what models make
 * of them; without brackets they could be anybody's names, and are not read.
 */
export function findMentions(text: string): Mention[] {
  if (!text.includes('_')) return [];
  return [...text.matchAll(mention)].map((match) => {
    const [whole, name = '', number] = match;
    return {
      // The pattern has no other names than these.
      name: namesByText.get(name.toUpperCase()) ?? 'LITERAL',
      number: Number(number),
      start: match.index,
      end: match.index + whole.length,
    };
  });
}

const names: readonly PseudonymName[] = [...entityNames, 'LITERAL'];
const namesByText: ReadonlyMap<string, PseudonymName> = new Map(names.map((name) => [name, name]));
const mention = new RegExp(`(?:<|&lt;) ?(${names.join('|')})_([1-9]\\d{0,6}) ?(?:>|&gt;)`, 'gi');

/** A copy that does not keep the text alive from which it was cut. */
function detach(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
