/** Who says a text: the operator, a person, the model, a tool, or the model to a tool. */
export const origins = ['system', 'user', 'assistant', 'tool', 'args'] as const;
export type Origin = (typeof origins)[number];

interface Place {
  readonly origin: Origin;
  /** The words before it, such as the key of a JSON value; empty without any. */
  readonly prefix: string;
  /** The rest of the conversation, where there is one: every text that people and tools have said. */
  readonly conversation: () => readonly string[];
}

/** What a guard objects to: from `start` up to, not including, `end`, in UTF-16 units. */
export interface Finding {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** What a guard sees in one text. */
export interface Found {
  /** In order, without overlaps. */
  readonly findings: readonly Finding[];
  /** How sure the guard is that there is something, from 0 to 1; also where it objects to nothing. */
  readonly confidence: number;
}

/** A text that a judge is asked about. */
export interface SaidText {
  readonly origin: Origin;
  readonly text: string;
}

/** What a judge says of the texts of one payload. */
export interface Judgement {
  /** The kind of what it objects to; undefined: nothing. */
  readonly kind: string | undefined;
  readonly confidence: number;
  readonly detail: string;
}

/** Everything that makes one guard: what it looks for, and what becomes of it. */
export interface GuardRules {
  /** The key of its counts in the metadata. */
  readonly name: string;
  /** Each kind in a sentence: singular and plural. */
  readonly kinds: Readonly<Record<string, readonly [singular: string, plural: string]>>;
  readonly scans: (origin: Origin) => boolean;
  /** In time linear in the length of the text, whatever the text. */
  readonly find: (text: string, place: Place) => Found;
  /** What stands where a finding was; undefined: the payload is denied. */
  readonly replace: (finding: Finding, written: string, origin: Origin) => string | undefined;
  /** Asked about the texts of a payload that the rules alone have not denied. A rejection denies. */
  readonly judge?: ((texts: readonly SaidText[], confidence: number) => Promise<Judgement>) | undefined;
}

/**
 * Findings in order, without overlaps: what overlaps becomes one, so that nothing that was found stays visible. It has the
 * kind of the one that comes first in `byRank`.
 */
export function mergeFindings(findings: readonly Finding[], byRank: readonly string[] = []): Finding[] {
  const merged: Finding[] = [];
  const rankOf = ({ kind }: Finding) => byRank.indexOf(kind);
  for (const finding of findings.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last === undefined || finding.start >= last.end) {
      merged.push(finding);
      continue;
    }
    const { kind } = rankOf(finding) < rankOf(last) ? finding : last;
    merged[merged.length - 1] = { kind, start: last.start, end: Math.max(last.end, finding.end) };
  }
  return merged;
}
