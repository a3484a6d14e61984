import { hash, mask, redact } from './action.ts';
import type { Detector } from './detect.ts';
import type { Edit } from './edit.ts';
import type { Counts, Entity } from './entity.ts';
import { isCalledPassword, isWholePassword } from './finders/secret.ts';
import type { Finding } from './finding.ts';
import { findMentions, type Ledger, type Mention, type PseudonymName } from './ledger.ts';
import type { Revealer } from './memory.ts';
import { resolveOverlaps } from './overlap.ts';
import { isPseudonymising, type PiiSettings } from './settings.ts';

/**
 * Whose words a text is. `original`: real values, on the way to a model. `echo`: a model's own words, which
 * speak in pseudonyms. `restored`: a model's words on the way to people or tools, where pseudonyms become
 * values again.
 */
export type Voice = 'original' | 'echo' | 'restored';

export interface TreatmentOptions {
  readonly settings: PiiSettings;
  readonly detect: Detector;
  /** Gives pseudonyms; undefined where nothing says whose conversation it is, and values are hashed instead. */
  readonly ledger: Ledger | undefined;
  readonly revealer: Revealer | undefined;
}

/** What is done to the texts of one payload, and the account of it. */
export class Treatment {
  readonly #options: TreatmentOptions;
  /** What was changed. */
  readonly changed: Counts = {};
  /** What must not pass. */
  readonly blocked: Counts = {};
  /** Which pseudonyms became values again. */
  readonly restored: Counts = {};

  constructor(options: TreatmentOptions) {
    this.#options = options;
  }

  /** The changes that this text needs, in order, counted. The lead is what stands before it and is not changed. */
  edit(text: string, voice: Voice, lead = ''): Edit[] {
    const mentions = isPseudonymising(this.#options.settings) ? findMentions(text) : [];
    if (voice === 'echo') for (const mention of mentions) this.#options.ledger?.reserve(mention);
    const changes = this.findings(text, voice, lead).flatMap((finding) => this.#change(finding, text));
    const resolved = outside(changes, mentions).flatMap((mention) => this.#resolve(mention, text, voice));
    return [...changes, ...resolved].toSorted((one, other) => one.start - other.start);
  }

  /** What has to be changed or blocked in a text; what may pass to its reader is left out. */
  findings(text: string, voice: Voice, lead = ''): readonly Finding[] {
    const { detect, settings } = this.#options;
    const isLeft = (entity: Entity) => voice === 'restored' && settings.actions[entity] === 'pseudonymise';
    const found = [...detect(lead + text)];
    if (lead !== '' && settings.entities.includes('SECRET')) found.push(...this.#passwords(text, lead));
    return resolveOverlaps(found, lead + text)
      .filter(({ entity, end }) => end > lead.length && !isLeft(entity))
      .map((finding) => ({
        ...finding,
        start: Math.max(0, finding.start - lead.length),
        end: finding.end - lead.length,
      }));
  }

  /** The value of a key that is called a password is one from end to end, whatever signs and spaces it holds. */
  #passwords(text: string, lead: string): Finding[] {
    if (!isCalledPassword(lead) || !isWholePassword(text) || this.#options.settings.isAllowed(text))
      return [];
    const end = lead.length + text.length;
    return [{ entity: 'SECRET', start: lead.length, end, isConfirmed: true }];
  }

  /** Counts a finding as one that must not pass. */
  block(entity: Entity): void {
    count(this.blocked, entity);
  }

  #change({ entity, start, end }: Finding, text: string): Edit[] {
    if (this.#options.settings.actions[entity] === 'block') {
      this.block(entity);
      return [];
    }
    count(this.changed, entity);
    return [{ start, end, text: this.#replacement(entity, text.slice(start, end)) }];
  }

  #replacement(entity: Entity, value: string): string {
    const { settings, ledger } = this.#options;
    switch (settings.actions[entity]) {
      case 'mask':
        return mask(entity, value);
      case 'hash':
        return hash(entity, value, settings.key);
      case 'pseudonymise':
        return ledger?.nameFor(entity, value) ?? hash(entity, value, settings.key);
      default:
        return redact(entity);
    }
  }

  /** What looks like a pseudonym is hidden in originals, left alone in echoes, and revealed on the way back. */
  #resolve(mention: Mention, text: string, voice: Voice): Edit[] {
    if (voice === 'restored') return this.#reveal(mention);
    const { ledger } = this.#options;
    if (voice === 'echo' || ledger === undefined) return [];
    const written = text.slice(mention.start, mention.end);
    return [{ ...mention, text: ledger.nameFor('LITERAL', written) }];
  }

  #reveal(mention: Mention): Edit[] {
    const value = this.#options.revealer?.reveal(mention);
    if (value === undefined) return [];
    if (!isLiteral(mention.name)) count(this.restored, mention.name);
    return [{ ...mention, text: value }];
  }
}

/** The mentions that no change touches; both are in order. */
function outside(changes: readonly Edit[], mentions: readonly Mention[]): Mention[] {
  let next = 0;
  return mentions.filter(({ start, end }) => {
    while ((changes[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    return (changes[next]?.start ?? Number.POSITIVE_INFINITY) >= end;
  });
}

function isLiteral(name: PseudonymName): name is 'LITERAL' {
  return name === 'LITERAL';
}

function count(counts: Counts, entity: Entity): void {
  counts[entity] = (counts[entity] ?? 0) + 1;
}
