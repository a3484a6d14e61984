import { escapeShownLine as oneLine } from '../../text/escape-commands.ts';
import { formatCount } from '../../text/format-count.ts';
import { cut } from '../../text/width.ts';
import { formatDuration, formatPercent } from '../report/numbers.ts';
import type { Change, Comparison, EvalDifference } from './comparison.ts';
import type { Decisions } from './decisions.ts';
import { formatP } from './regressions.ts';

/** Whether both sides are what hooks in shadow mode would have decided. */
export function isShadowComparison({ a, b }: Comparison): boolean {
  return a.kind === 'shadow' && b.kind === 'shadow';
}

export const shadowTitles = ['', 'events', 'allow', 'modify', 'deny', 'ask', 'failed', 'p50', 'p99'] as const;

/** A row of each side: how often it answered what. */
export function shadowRows({ evals }: Comparison): string[][] {
  return evals.flatMap(({ pairs, decisions }) =>
    decisions === undefined ? [] : [toCells('A', pairs, decisions.a), toCells('B', pairs, decisions.b)],
  );
}

function toCells(side: string, pairs: number, decisions: Decisions): string[] {
  const { allow, modify, deny, ask, failed, latency_ms: latency } = decisions;
  const times = latency === null ? ['–', '–'] : [latency.p50, latency.p99].map(formatDuration);
  return [side, ...[pairs, allow, modify, deny, ask, failed].map(String), ...times];
}

/** How often each would have stopped or changed something, with the p-value of the difference. */
export function describeShadows({ evals }: Comparison): string[] {
  return evals.flatMap(({ pairs, table, p_value: p }) => {
    if (p === null) return ['no event was seen by both'];
    const { both_passed: neither, only_a_passed: onlyB, only_b_passed: onlyA, neither_passed: both } = table;
    const share = (count: number) => `${count} of ${pairs} (${formatPercent(count / pairs)})`;
    return [
      `A would interfere with ${share(both + onlyA)}, B with ${share(both + onlyB)}; ${formatP(p)}`,
      `both ${both}, only A ${onlyA}, only B ${onlyB}, neither ${neither}`,
    ];
  });
}

export interface ShadowList {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The events that only one of them would have let through. */
export function shadowLists({ evals }: Comparison): ShadowList[] {
  return evals.flatMap((each) => [
    ...toList('B', each.regressions, each.first_regressions),
    ...toList('A', each.improvements, each.first_improvements),
  ]);
}

function toList(side: string, count: EvalDifference['regressions'], first: readonly Change[]): ShadowList[] {
  if (count === 0) return [];
  const more = first.length < count ? `, the first ${first.length}` : '';
  const lines = first.map((change) => {
    return cut(oneLine(`${change.case}: A ${change.a.detail} → B ${change.b.detail}`), longestText);
  });
  return [{ title: `only ${side} would interfere: ${formatCount(count, 'event')}${more}`, lines }];
}

/** What a person reads of one text in a list. */
const longestText = 200;
