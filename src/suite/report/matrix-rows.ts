import type { PairedDifference } from '../run/difference-record.ts';
import type { RunSummary } from '../run/record.ts';
import type { Stats } from '../run/stats-record.ts';
import type { Totals } from '../run/totals-record.ts';
import type { VariantReport } from '../run/variant-record.ts';
import {
  describeP,
  formatDifference,
  formatDuration,
  formatMean,
  formatPercent,
  formatUsd,
} from './numbers.ts';

/** A row of the table of a matrix, with a cell for each variant. */
export interface MatrixRow {
  /** Of an eval, or of what the answers took; empty for a further row of the one before. */
  readonly name: string;
  readonly measure: string;
  /** One for each variant, in their order. */
  readonly cells: readonly string[];
}

/** The variants of a matrix side by side: what their cases came to, and what their answers took. */
export function matrixRows({ variants = [], comparisons = [], epochs, overall }: MatrixSummary): MatrixRow[] {
  const [first] = variants;
  if (first === undefined) return [];
  const against = (name: string) => comparisons.find(({ a, b }) => a === first.name && b === name);
  const blocks = Object.keys(first.evals).map(
    (id): Block => ({
      name: id,
      stats: (variant) => variant.evals[id],
      difference: (variant) => against(variant.name)?.evals[id],
    }),
  );
  const all: Block = {
    name: 'all cases',
    stats: (variant) => variant.overall,
    difference: (variant) => against(variant.name)?.cases,
  };
  // With metrics alone no case can fail, and none has a score.
  const isJudged = overall.scored > 0 || overall.passed < overall.count;
  return [
    ...[...blocks, ...(isJudged ? [all] : [])].flatMap((block) => blockRows(block, variants, epochs)),
    ...answerRows(variants),
  ];
}

type MatrixSummary = Pick<RunSummary, 'variants' | 'comparisons' | 'epochs' | 'overall'>;

interface Block {
  readonly name: string;
  readonly stats: (variant: VariantReport) => Stats | undefined;
  /** From the first variant. */
  readonly difference: (variant: VariantReport) => PairedDifference | undefined;
}

function blockRows(
  { name, stats, difference }: Block,
  variants: readonly VariantReport[],
  epochs: number,
): MatrixRow[] {
  const row = (measure: string, cell: (stats: Stats) => string) => {
    return toRow(measure, variants, (variant) => {
      const own = stats(variant);
      return own === undefined ? '' : cell(own);
    });
  };
  const rows = [
    row('pass rate', (own) => formatPercent(own.pass_rate)),
    row(
      'mean',
      (own) => `${formatMean(own.mean)}${own.stderr === null ? '' : ` ±${formatMean(own.stderr)}`}`,
    ),
    row('unscored', ({ unscored }) => (unscored === 0 ? '' : String(unscored))),
    row('flaky', ({ flaky }) => (epochs === 1 || flaky === 0 ? '' : String(flaky))),
    toRow('Δ mean', variants, (variant) => {
      const score = difference(variant)?.score ?? null;
      return score === null ? '' : formatDifference(score.difference, score.ci95);
    }),
    toRow('p, verdicts', variants, (variant) => pCell(difference(variant)?.p_value)),
    toRow('p, scores', variants, (variant) => pCell(difference(variant)?.score?.p_value)),
  ];
  return withName(name, rows);
}

/** A p-value; empty where nothing was compared. */
function pCell(p: number | null | undefined): string {
  return p === null || p === undefined ? '' : describeP(p);
}

function answerRows(variants: readonly VariantReport[]): MatrixRow[] {
  const row = (measure: string, cell: (totals: Totals) => string) =>
    toRow(measure, variants, ({ totals }) => (totals === undefined ? '' : cell(totals)));
  return withName('answers', [
    row('failed', ({ failed }) => (failed === 0 ? '' : String(failed))),
    row('cached', ({ cached }) => (cached === 0 ? '' : String(cached))),
    row('p50', ({ answer_ms: times }) => (times === null ? '' : formatDuration(times.p50))),
    row('p99', ({ answer_ms: times }) => (times === null ? '' : formatDuration(times.p99))),
    row('tokens in', ({ input_tokens: tokens, unknown }) => tokenCell(tokens, unknown.tokens)),
    row('tokens out', ({ output_tokens: tokens, unknown }) => tokenCell(tokens, unknown.tokens)),
    row('cost', ({ cost_usd: cost, unknown }) =>
      cost === null ? '' : formatUsd(cost) + more(unknown.cost_usd),
    ),
  ]);
}

/** What some answers do not tell is a sum of the others. */
function more(unknown: number): string {
  return unknown === 0 ? '' : ' or more';
}

function tokenCell(tokens: number | null, unknown: number): string {
  return tokens === null ? '' : `${tokens}${more(unknown)}`;
}

function toRow(
  measure: string,
  variants: readonly VariantReport[],
  cell: (variant: VariantReport) => string,
): MatrixRow {
  return { name: '', measure, cells: variants.map(cell) };
}

/** Those that say something, the first with the name of all. */
function withName(name: string, rows: readonly MatrixRow[]): MatrixRow[] {
  return rows
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map((row, index) => (index === 0 ? { ...row, name } : row));
}
