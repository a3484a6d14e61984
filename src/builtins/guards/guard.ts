/** The origin of a text: the operator, a person, the model, a tool, or the model's arguments for a tool. */
export const origins = ['system', 'user', 'assistant', 'tool', 'args'] as const;
export type Origin = (typeof origins)[number];

interface Place {
  readonly origin: Origin;
  /** The words before the text, such as the key of a JSON value; may be empty. */
  readonly prefix: string;
  /** All texts of people and tools in the rest of the conversation. */
  readonly conversation: () => readonly string[];
}

/** The range of a finding from `start` up to, not including, `end`, in UTF-16 units. */
export interface Finding {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

export interface Found {
  /** In order, without overlaps. */
  readonly findings: readonly Finding[];
  /** From 0 to 1; also set without findings. */
  readonly confidence: number;
}

export interface SaidText {
  readonly origin: Origin;
  readonly text: string;
}

export interface Judgement {
  readonly kind: string | undefined;
  readonly confidence: number;
  readonly detail: string;
}

export interface GuardRules {
  /** The key of its counts in the metadata. */
  readonly name: string;
  readonly kinds: Readonly<Record<string, readonly [singular: string, plural: string]>>;
  readonly scans: (origin: Origin) => boolean;
  /** Must run in linear time for any text. */
  readonly find: (text: string, place: Place) => Found;
  /** Returns the replacement of a finding; undefined denies the payload. */
  readonly replace: (finding: Finding, written: string, origin: Origin) => string | undefined;
  /** Judges the texts of a payload that the rules did not deny. A rejection denies. */
  readonly judge?: ((texts: readonly SaidText[], confidence: number) => Promise<Judgement>) | undefined;
}

/**
 * Sorts findings and merges overlapping ones, so that nothing found stays visible. A merged finding has the kind that
 * comes first in `byRank`.
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
