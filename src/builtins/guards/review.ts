import type { Edit } from '../pii/edit.ts';
import type { TextChanger } from '../pii/text-changer.ts';
import type { RewriteOptions } from '../pii/text-rewrite.ts';
import type { GuardRules, Judgement, Origin, SaidText } from './guard.ts';

/** Looks at the texts of one payload, changes them, and counts what it objected to. */
export class Review {
  readonly #rules: GuardRules;
  readonly #conversation: () => readonly string[];
  readonly #texts: SaidText[] = [];
  readonly #changed = new Map<string, number>();
  readonly #blocked = new Map<string, number>();
  #confidence = 0;
  #detail = '';

  constructor(rules: GuardRules, conversation: () => readonly string[] = () => []) {
    this.#rules = rules;
    this.#conversation = conversation;
  }

  /** How texts of that origin are rewritten; undefined where the guard does not look at them. */
  at(origin: Origin, isExecuted = false): RewriteOptions {
    const changer: TextChanger = {
      edit: (text, _source, prefix = '') => this.#edit(text, origin, prefix),
      blockAll: (text, _source, prefix) => this.#blockAll(text, origin, prefix),
    };
    return { changer, textSource: 'original', isExecuted };
  }

  /** Whether something was found that must not pass. */
  get isBlocked(): boolean {
    return this.#blocked.size > 0;
  }

  get confidence(): number {
    return this.#confidence;
  }

  /** What a judge said, if one was asked. */
  get detail(): string {
    return this.#detail;
  }

  /** The texts that were looked at, each once: some members of a message repeat others. */
  get texts(): readonly SaidText[] {
    return [...new Map(this.#texts.map((said) => [said.text, said])).values()];
  }

  /** How often each kind was found; without blocked ones only what was changed. */
  counts(which: 'blocked' | 'changed'): Readonly<Record<string, number>> {
    return Object.fromEntries(which === 'blocked' ? this.#blocked : this.#changed);
  }

  /** Takes up what a judge said. */
  hear({ kind, confidence, detail }: Judgement): void {
    if (kind !== undefined) count(this.#blocked, kind);
    this.#confidence = confidence;
    this.#detail = detail;
  }

  #edit(text: string, origin: Origin, prefix: string): Edit[] {
    return this.#find(text, origin, prefix).flatMap((finding) => {
      const written = text.slice(finding.start, finding.end);
      const replacement = this.#rules.replace(finding, written, origin);
      count(replacement === undefined ? this.#blocked : this.#changed, finding.kind);
      return replacement === undefined ? [] : [{ start: finding.start, end: finding.end, text: replacement }];
    });
  }

  #blockAll(text: string, origin: Origin, prefix: string): boolean {
    const found = this.#find(text, origin, prefix);
    for (const { kind } of found) count(this.#blocked, kind);
    return found.length > 0;
  }

  #find(text: string, origin: Origin, prefix: string) {
    if (!this.#rules.scans(origin)) return [];
    this.#texts.push({ origin, text });
    const { findings, confidence } = this.#rules.find(text, {
      origin,
      prefix,
      conversation: this.#conversation,
    });
    this.#confidence = Math.max(this.#confidence, confidence);
    return findings;
  }
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
