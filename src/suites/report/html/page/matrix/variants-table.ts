import type { SuiteReport } from '../../../../record.ts';
import type { PairedDifference, VariantReport } from '../../../../run/stats-record.ts';
import { formatDifference } from '../../../numbers.ts';
import { pill } from '../case/text.ts';
import { foreign, make } from '../dom.ts';
import { count, duration, meanWithError, percent } from '../format.ts';

/** The variants of a matrix side by side: what their cases came to, and what their answers took. */
export function renderVariants({ variants = [], comparisons = [] }: SuiteReport) {
  const [first] = variants;
  if (first === undefined) return [];
  const against = ({ name }: VariantReport) => comparisons.find(({ a, b }) => a === first.name && b === name);
  const row = (name: string, measure: string, cell: (variant: VariantReport) => string) => {
    const cells = variants.map(cell);
    if (cells.every((text) => text === '')) return [];
    const head = make('th', { scope: 'row' }, foreign(name), ' ', make('small', {}, measure));
    return [make('tr', {}, head, ...cells.map((text) => make('td', {}, text)))];
  };
  const compared = (name: string, read: (variant: VariantReport) => PairedDifference | undefined) => [
    ...row(name, 'difference of means', (each) => sayDifference(read(each))),
    ...row(name, 'p of verdicts', (each) => sayP(read(each)?.p_value)),
    ...row(name, 'p of scores', (each) => sayP(read(each)?.score?.p_value)),
  ];
  const ids = Object.keys(first.evals);
  const rows = [
    ...ids.flatMap((id) => [
      ...row(id, 'pass rate', ({ evals }) => percent(evals[id]?.pass_rate ?? null)),
      ...row(id, 'mean', ({ evals }) => (evals[id] === undefined ? '' : meanWithError(evals[id]))),
      ...row(id, 'unscored', ({ evals }) => sayCount(evals[id]?.unscored ?? 0)),
      ...compared(id, (each) => against(each)?.evals[id]),
    ]),
    ...(ids.length === 1 ? [] : row('Whole cases', 'pass rate', ({ overall }) => percent(overall.pass_rate))),
    ...(ids.length === 1 ? [] : compared('Whole cases', (each) => against(each)?.cases)),
    ...row('Answers', 'failed', ({ totals }) => sayCount(totals?.failed ?? 0)),
    ...row('Answers', 'time, p50', ({ totals }) => sayTime(totals?.answer_ms?.p50)),
    ...row('Answers', 'time, p99', ({ totals }) => sayTime(totals?.answer_ms?.p99)),
    ...row('Answers', 'tokens in', ({ totals }) => sayKnown(totals?.input_tokens)),
    ...row('Answers', 'tokens out', ({ totals }) => sayKnown(totals?.output_tokens)),
    ...row('Answers', 'cost', ({ totals }) => sayCost(totals?.cost_usd)),
  ];
  const heads = variants.map(({ name, status }) => {
    const word = status === 'error' ? pill('error') : pill(status);
    return make('th', { scope: 'col' }, foreign(name), ' ', word);
  });
  const table = make(
    'table',
    { class: 'figures variants' },
    make('thead', {}, make('tr', {}, make('td', {}), ...heads)),
    make('tbody', {}, ...rows),
  );
  const note = make(
    'p',
    { class: 'note' },
    'Differences and p-values are against ',
    foreign(first.name),
    '.',
  );
  const scroll = make(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Variants' },
    table,
  );
  return [
    make(
      'section',
      { class: 'box' },
      make('h2', {}, 'Variants'),
      scroll,
      ...(variants.length > 1 ? [note] : []),
    ),
  ];
}

function sayDifference(difference: PairedDifference | undefined) {
  const score = difference?.score;
  if (score === null || score === undefined) return '';
  return formatDifference(score.difference, score.ci95);
}

function sayP(p: number | null | undefined) {
  if (p === null || p === undefined) return '';
  return p < 0.0001 ? '< 0.0001' : p.toFixed(4);
}

function sayCount(number: number) {
  return number === 0 ? '' : count(number);
}

function sayKnown(number: number | null | undefined) {
  return number === null || number === undefined ? '' : count(number);
}

function sayTime(ms: number | undefined) {
  return ms === undefined ? '' : duration(ms);
}

function sayCost(usd: number | null | undefined) {
  return usd === null || usd === undefined ? '' : `$${Number(usd.toPrecision(4))}`;
}
