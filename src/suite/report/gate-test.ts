import { formatCount } from '../../text/format-count.ts';
import { fewestPairs, mostMissing, significance } from '../matrix/gates.ts';
import type { GateResult, GateTest } from '../run/record.ts';

/**
 * What was compared by a gate between variants, and what came of it: `+0.120 (+0.031 to +0.209) against small, p = 0.0093
 * (paired t of 120 pairs, 31 of them ties)`.
 */
export function explainTest({ value, better_than: base = '', passed }: GateResult, test: GateTest): string {
  const { name, pairs, p_value: p } = test;
  const counts = [`${testNames[name]} of ${formatCount(pairs, 'pair')}`, ...asides(test)].join(', ');
  const found = [
    ...(value === null ? [] : [`${signed(value)}${interval(test)} against ${base}`]),
    ...(p === null ? [] : [formatP(p)]),
  ];
  const what = found.length === 0 ? `nothing to compare with ${base}` : found.join(', ');
  return `${what} (${counts})${passed ? '' : `, but ${whyMissed(test, { value, base })}`}`;
}

const testNames = {
  mcnemar: 'McNemar’s exact test',
  sign_flip: 'exact sign-flip test',
  paired_t: 'paired t test',
} as const satisfies Record<GateTest['name'], string>;

function asides({ ties, unscored, unpaired }: GateTest): string[] {
  return [
    ...(ties === 0 ? [] : [`${ties} tied`]),
    ...(unscored === 0 ? [] : [`${unscored} without both scores`]),
    ...(unpaired === 0 ? [] : [`${formatCount(unpaired, 'case')} of only one variant`]),
  ];
}

function whyMissed(
  { flaw, pairs, ties }: GateTest,
  { value, base }: { readonly value: number | null; readonly base: string },
): string {
  if (flaw === 'too_few_pairs') return `so few pairs show nothing: it takes ${fewestPairs} at least`;
  if (flaw === 'too_many_missing')
    return `more than ${mostMissing * 100} % of the cases have no result of both`;
  if (value !== null && value <= 0) return `wanted better than ${base}`;
  const changed = pairs - ties;
  if (changed < fewestPairs) return `${changed} that differ show nothing: it takes ${fewestPairs} at least`;
  return `wanted better than ${base} with p < ${significance}`;
}

function interval({ ci95 }: GateTest): string {
  return ci95 === null ? '' : ` (${signed(ci95[0])} to ${signed(ci95[1])})`;
}

function signed(value: number): string {
  const text = value.toFixed(3).replace(/^-0\.000$/, '0.000');
  return value > 0 ? `+${text}` : text;
}

function formatP(p: number): string {
  return p < 0.0001 ? 'p < 0.0001' : `p = ${p.toFixed(4)}`;
}
