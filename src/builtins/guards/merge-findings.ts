import type { Finding } from './guard.ts';

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
