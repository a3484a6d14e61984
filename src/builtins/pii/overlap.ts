import type { Finding } from './finding.ts';

/**
 * Resolves overlaps and sorts. Confirmed findings win over guesses; then the longer, then the earlier one. The rest of
 * a losing finding remains a finding, so that nothing found stays visible.
 */
export function resolveOverlaps(findings: readonly Finding[], text: string): Finding[] {
  if (findings.length < 2) return [...findings];
  const clusters = [...clustersOf(findings.toSorted((one, other) => one.start - other.start))];
  return clusters.flatMap((cluster) => (cluster.length === 1 ? cluster : resolveCluster(cluster, text)));
}

function* clustersOf(sorted: readonly Finding[]): Generator<Finding[]> {
  let cluster: Finding[] = [];
  let end = 0;
  for (const finding of sorted) {
    if (cluster.length > 0 && finding.start >= end) {
      yield cluster;
      cluster = [];
    }
    cluster.push(finding);
    end = Math.max(end, finding.end);
  }
  if (cluster.length > 0) yield cluster;
}

function resolveCluster(cluster: readonly Finding[], text: string): Finding[] {
  const { start: origin } = cluster[0] ?? { start: 0 };
  const end = cluster.reduce((latest, finding) => Math.max(latest, finding.end), origin);
  // The finding at each position; findings of higher priority take their positions first.
  const holders: (Finding | undefined)[] = Array.from({ length: end - origin });
  for (const finding of cluster.toSorted(byPriority)) {
    for (let at = finding.start; at < finding.end; at++) holders[at - origin] ??= finding;
  }
  return runsOf(holders, origin).filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
}

function byPriority(one: Finding, other: Finding): number {
  if (one.isConfirmed !== other.isConfirmed) return one.isConfirmed ? -1 : 1;
  return other.end - other.start - (one.end - one.start) || one.start - other.start;
}

function runsOf(holders: readonly (Finding | undefined)[], origin: number): Finding[] {
  const runs: Finding[] = [];
  for (let at = 0; at < holders.length; ) {
    const holder = holders[at];
    let end = at + 1;
    while (end < holders.length && holders[end] === holder) end += 1;
    if (holder !== undefined) runs.push({ ...holder, start: origin + at, end: origin + end });
    at = end;
  }
  return runs;
}
