import { hash, mask, redact } from './action.ts';
import type { Detector } from './detector.ts';
import type { Edit } from './edit.ts';
import type { Counts, Entity } from './entity.ts';
import { isPasswordLabel, isWholePassword } from './finders/secret.ts';
import type { Finding } from './finding.ts';
import { resolveOverlaps } from './overlap.ts';
import {
  findPseudonyms,
  type PseudonymMention,
  type PseudonymResolver,
  type Pseudonyms,
} from './pseudonyms.ts';
import { isPseudonymising, type PiiSettings, type ScanPlace } from './settings.ts';
import type { TextChanger, TextSource } from './text-changer.ts';

export interface AnonymizerOptions {
  readonly settings: PiiSettings;
  readonly detect: Detector;
  /** Assigns pseudonyms; undefined where the conversation is not known, so that values are hashed instead. */
  readonly pseudonyms: Pseudonyms | undefined;
  readonly resolver: PseudonymResolver | undefined;
}

/** Changes the texts of one payload and counts what was changed, blocked and restored. */
export class Anonymizer implements TextChanger {
  readonly #options: AnonymizerOptions;
  /** How many findings of each entity were changed. */
  readonly changed: Counts = {};
  /** How many findings of each entity block the payload. */
  readonly blocked: Counts = {};
  /** How many pseudonyms of each entity became values again. */
  readonly restored: Counts = {};

  constructor(options: AnonymizerOptions) {
    this.#options = options;
  }

  /** What changes the texts of a place: where that is not looked at, pseudonyms alone. */
  at(place: ScanPlace): TextChanger {
    if (this.#options.settings.scan?.has(place) !== false) return this;
    return {
      edit: (text, source) => this.#edits(text, source, []),
      blockAll: () => false,
    };
  }

  /** The changes that this text needs, in order, counted. The lead is what stands before it and is not changed. */
  edit(text: string, source: TextSource, prefix = ''): Edit[] {
    return this.#edits(text, source, this.findings(text, source, prefix));
  }

  #edits(text: string, source: TextSource, findings: readonly Finding[]): Edit[] {
    const { settings } = this.#options;
    const ownNames = settings.patterns?.map(({ name }) => name);
    const mentions = isPseudonymising(settings) ? findPseudonyms(text, ownNames) : [];
    if (source === 'echo') for (const mention of mentions) this.#options.pseudonyms?.reserve(mention);
    const changes = findings.flatMap((finding) => this.#change(finding, text));
    const resolved = mentionsOutside(changes, mentions).flatMap((mention) =>
      this.#resolve(mention, text, source),
    );
    return [...changes, ...resolved].toSorted((one, other) => one.start - other.start);
  }

  /** The findings in a text that must be changed or blocked; values that its reader may see are left out. */
  findings(text: string, source: TextSource, prefix = ''): readonly Finding[] {
    const { detect, settings } = this.#options;
    const isLeft = (entity: Entity) => source === 'restored' && settings.actions[entity] === 'pseudonymise';
    const found = [...detect(prefix + text)];
    if (prefix !== '' && settings.entities.includes('SECRET')) found.push(...this.#passwords(text, prefix));
    return resolveOverlaps(found, prefix + text)
      .filter(({ entity, end }) => end > prefix.length && !isLeft(entity))
      .map((finding) => ({
        ...finding,
        start: Math.max(0, finding.start - prefix.length),
        end: finding.end - prefix.length,
      }));
  }

  /** The whole value of a password key as one finding, whatever characters it holds. */
  #passwords(text: string, prefix: string): Finding[] {
    if (!isPasswordLabel(prefix) || !isWholePassword(text) || this.#options.settings.isAllowed(text))
      return [];
    const end = prefix.length + text.length;
    return [{ entity: 'SECRET', start: prefix.length, end, isConfirmed: true }];
  }

  blockAll(text: string, source: TextSource, prefix: string): boolean {
    const found = this.findings(text, source, prefix);
    for (const { entity } of found) count(this.blocked, entity);
    return found.length > 0;
  }

  #change({ entity, start, end }: Finding, text: string): Edit[] {
    if (this.#options.settings.actions[entity] === 'block') {
      count(this.blocked, entity);
      return [];
    }
    count(this.changed, entity);
    return [{ start, end, text: this.#replacement(entity, text.slice(start, end)) }];
  }

  #replacement(entity: Entity, value: string): string {
    const { settings, pseudonyms } = this.#options;
    switch (settings.actions[entity]) {
      case 'mask':
        return mask(entity, value);
      case 'hash':
        return hash(entity, value, settings.key);
      case 'pseudonymise':
        return pseudonyms?.nameFor(entity, value) ?? hash(entity, value, settings.key);
      default:
        return redact(entity);
    }
  }

  /**
   * Handles what looks like a pseudonym: replaced in originals, left in echoes, resolved in restored texts.
   */
  #resolve(mention: PseudonymMention, text: string, source: TextSource): Edit[] {
    if (source === 'restored') return this.#reveal(mention);
    const { pseudonyms } = this.#options;
    if (source === 'echo' || pseudonyms === undefined) return [];
    const written = text.slice(mention.start, mention.end);
    return [{ ...mention, text: pseudonyms.nameFor('LITERAL', written) }];
  }

  #reveal(mention: PseudonymMention): Edit[] {
    const value = this.#options.resolver?.reveal(mention);
    if (value === undefined) return [];
    if (mention.name !== 'LITERAL') count(this.restored, mention.name);
    return [{ ...mention, text: value }];
  }
}

/** The mentions that no change touches; both are in order. */
function mentionsOutside(
  changes: readonly Edit[],
  mentions: readonly PseudonymMention[],
): PseudonymMention[] {
  let next = 0;
  return mentions.filter(({ start, end }) => {
    while ((changes[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    return (changes[next]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

function count(counts: Counts, entity: Entity): void {
  counts[entity] = (counts[entity] ?? 0) + 1;
}
