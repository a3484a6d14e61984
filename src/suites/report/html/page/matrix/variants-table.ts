import { foreign, make, note, row, table } from '../../../../../base/page/dom.ts';
import { count, duration, meanWithError, percent } from '../../../../../base/page/format.ts';
import { pill } from '../../../../../base/page/text.ts';
import type { SuiteReport } from '../../../../record.ts';
import type { PairedDifference, VariantReport } from '../../../../run/stats-record.ts';
import { describeP, formatDifference } from '../../../numbers.ts';

export function renderVariants({ variants = [], comparisons = [] }: SuiteReport) {
  const [first] = variants;
  if (first === undefined) return null;
  const against = ({ name }: VariantReport) => comparisons.find(({ a, b }) => a === first.name && b === name);
  const line = (name: string, measure: string, cell: (variant: VariantReport) => string) => {
    const cells = variants.map(cell);
    const title = [foreign(name), ' ', make('small', {}, measure)];
    return cells.some((text) => text !== '') && row(title, ...cells);
  };
  const known = <Value>(value: Value | null | undefined, say: (value: Value) => string) =>
    value === null || value === undefined ? '' : say(value);
  const sayP = (p: number) => describeP(p).replace('<', '< ');
  const compared = (name: string, read: (variant: VariantReport) => PairedDifference | undefined) => [
    line(name, 'difference of means', (each) =>
      known(read(each)?.score, ({ difference, ci95 }) => formatDifference(difference, ci95)),
    ),
    line(name, 'p of verdicts', (each) => known(read(each)?.p_value, sayP)),
    line(name, 'p of scores', (each) => known(read(each)?.score?.p_value, sayP)),
  ];
  const ids = Object.keys(first.evals);
  const rows = [
    ids.map((id) => [
      line(id, 'pass rate', ({ evals }) => percent(evals[id]?.pass_rate ?? null)),
      line(id, 'mean', ({ evals }) => known(evals[id], meanWithError)),
      line(id, 'unscored', ({ evals }) => known(evals[id]?.unscored || null, count)),
      compared(id, (each) => against(each)?.evals[id]),
    ]),
    ids.length !== 1 && [
      line('Whole cases', 'pass rate', ({ overall }) => percent(overall.pass_rate)),
      compared('Whole cases', (each) => against(each)?.cases),
    ],
    line('Answers', 'failed', ({ totals }) => known(totals?.failed || null, count)),
    line('Answers', 'time, p50', ({ totals }) => known(totals?.answer_ms?.p50, duration)),
    line('Answers', 'time, p99', ({ totals }) => known(totals?.answer_ms?.p99, duration)),
    line('Answers', 'tokens in', ({ totals }) => known(totals?.input_tokens, count)),
    line('Answers', 'tokens out', ({ totals }) => known(totals?.output_tokens, count)),
    line('Answers', 'cost', ({ totals }) =>
      known(totals?.cost_usd, (usd) => `$${Number(usd.toPrecision(4))}`),
    ),
  ];
  const heads = variants.map(({ name, status }) =>
    make('th', { scope: 'col' }, foreign(name), ' ', pill(status)),
  );
  const all = table('figures variants', [make('td', {}), ...heads], rows);
  return make(
    'section',
    { class: 'box' },
    make('h2', {}, 'Variants'),
    make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Variants' }, all),
    variants.length > 1 && note('Differences and p-values are against ', foreign(first.name), '.'),
  );
}
