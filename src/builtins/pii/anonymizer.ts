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
  /** Undefined if the conversation is unknown; values are then hashed. */
  readonly pseudonyms: Pseudonyms | undefined;
  readonly resolver: PseudonymResolver | undefined;
}

export class Anonymizer implements TextChanger {
  readonly #options: AnonymizerOptions;
  readonly changed: Counts = {};
  readonly blocked: Counts = {};
  readonly restored: Counts = {};

  constructor(options: AnonymizerOptions) {
    this.#options = options;
  }

  at(place: ScanPlace): TextChanger {
    if (this.#options.settings.scan?.has(place) !== false) return this;
    return {
      edit: (text, source) => this.#edits(text, source, []),
      blockAll: () => false,
    };
  }

  /** Returns the counted changes in order. `prefix` is the text before, which does not change. */
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

  /** Returns the findings to change or block, without values that the reader may see. */
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

  /** The whole value of a password key is one finding. */
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

  /** Replaces text that looks like a pseudonym in originals, leaves it in echoes, and resolves it in restored texts. */
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
