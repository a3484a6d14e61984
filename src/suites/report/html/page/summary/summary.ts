import type { GateResult, RowProblem, SuiteReport } from '../../../../record.ts';
import type { Times, Totals } from '../../../../run/stats-record.ts';
import { mark, pill } from '../case/text.ts';
import type { Data } from '../data.ts';
import { button, factList, fold, foreign, make } from '../dom.ts';
import { boundsOf, count, counted, duration, instant, meanWithError, percent } from '../format.ts';
import { renderVariants } from '../matrix/variants-table.ts';
import { type Choose, renderEvalCard, renderHead, renderRate, renderTagTable } from './eval-card.ts';

/** What the run came to: the verdict, the gates and the evals. */
export function renderSummary(data: Data, choose: Choose) {
  const { report } = data;
  const parts = [
    renderHeadline(data),
    ...renderVoid(report),
    ...renderNotices(data),
    ...(report === null ? [] : renderGates(report.gates, choose)),
    ...renderProblems(data),
    ...(report === null ? [] : renderFigures(data, report, choose)),
  ];
  return make('div', { class: 'summary' }, ...parts);
}

/** Of a matrix its variants: figures of all of them together say little. */
function renderFigures(data: Data, report: SuiteReport, choose: Choose) {
  if (data.header.variants !== undefined) return renderVariants(report);
  const totals = report.totals === undefined ? [] : [renderTotals(report.totals)];
  return [...totals, renderEvals(data, report, choose)];
}

function renderHeadline({ header, report, entries }: Data) {
  const status = report?.status ?? 'unfinished';
  const verdict =
    status === 'unfinished' ? pill('unscored', 'Not finished') : pill(status, verdictWords[status]);
  const facts = factList([
    ['Cases', count(report?.cases ?? entries.length)],
    ['Variants', header.variants === undefined ? null : count(header.variants.length)],
    ['Epochs', header.epochs > 1 ? count(header.epochs) : null],
    ['Took', report === null ? null : duration(report.duration_ms)],
    ['Started', instant(header.started_at)],
    ['Suite file', foreign(header.file)],
    ['Run', foreign(header.run_id, 'run-id')],
  ]);
  return make(
    'header',
    { class: 'headline' },
    make('div', { class: 'title' }, make('h1', {}, foreign(header.suite)), verdict),
    facts,
  );
}

const verdictWords = { passed: 'Passed', failed: 'Failed', error: 'Error' };

function renderNotices({ report, dropped, problems }: Data) {
  const notices = [
    report === null
      ? 'This run did not come to its end: there are only the cases that were done until then.'
      : '',
    report?.bailed === true ? 'The run ended early, after as many failures as were allowed.' : '',
    dropped > 0
      ? `To keep this page small, the details of ${counted(dropped, 'passed case')} were left out. All failures have theirs.`
      : '',
    report !== null && report.problem_count > problems.length
      ? `Of ${counted(report.problem_count, 'unusable row')} the first ${count(problems.length)} are listed.`
      : '',
  ];
  return notices
    .filter((text) => text !== '')
    .map((text) => make('p', { class: 'notice', role: 'note' }, text));
}

/** What is wrong with no row but with the run as a whole: nothing that it says counts. */
function renderVoid(report: SuiteReport | null) {
  const ofRun = (report?.problems ?? []).filter(({ scope }) => scope === 'run');
  if (ofRun.length === 0) return [];
  const items = ofRun.map((problem) => make('li', {}, ...sayProblem(problem)));
  const title = make('h2', {}, mark('failed'), 'The run is void');
  const attributes = { class: 'box void', 'aria-label': 'The run is void' };
  return [make('section', attributes, title, make('ul', { class: 'problems' }, ...items))];
}

function renderProblems({ problems: all }: Data) {
  const problems = all.filter(({ scope }) => scope !== 'run');
  if (problems.length === 0) return [];
  const items = problems.slice(0, 200).map((problem) => make('li', {}, ...sayProblem(problem)));
  const title = make('span', {}, mark('failed'), `${counted(problems.length, 'row')} could not be used`);
  const list = fold(title, problems.length <= 5, make('ul', { class: 'problems' }, ...items));
  list.classList.add('box');
  return [list];
}

function sayProblem({ file, line, column, message, hint }: RowProblem) {
  return [
    foreign(`${file}:${line}:${column}`, 'place'),
    make('p', {}, foreign(message)),
    ...(hint === undefined ? [] : [make('p', { class: 'hint' }, foreign(hint))]),
  ];
}

function renderEvals({ header }: Data, report: SuiteReport, choose: Choose) {
  const stats = new Map(Object.entries(report.evals));
  const cards = header.evals.flatMap((about) => {
    const known = stats.get(about.id);
    return known === undefined ? [] : [renderEvalCard(about, known, choose)];
  });
  const whole = header.evals.length > 1 ? [renderOverall(report, choose)] : [];
  return make(
    'section',
    { 'aria-label': 'Evals' },
    make('h2', {}, 'Evals'),
    make('div', { class: 'cards' }, ...whole, ...cards),
  );
}

function renderOverall({ overall }: SuiteReport, choose: Choose) {
  const tags = Object.entries(overall.tags);
  const facts = factList(
    [
      ['Weighted mean', meanWithError(overall)],
      ['Unscored', count(overall.unscored)],
      [
        'Flaky',
        overall.flaky === 0 ? null : `${count(overall.flaky)} (${percent(overall.flaky / overall.count)})`,
      ],
    ],
    'facts small',
  );
  const byTag =
    tags.length === 0
      ? []
      : [fold(`By tag (${count(tags.length)})`, tags.length <= 6, renderTagTable(tags, '', choose))];
  return make(
    'article',
    { class: 'card', 'aria-label': 'Whole cases' },
    renderHead('Whole cases', 'all assertions and guardrails'),
    renderRate(overall),
    facts,
    ...byTag,
  );
}

/** The gates with what they measured and what they wanted. */
function renderGates(gates: readonly GateResult[], choose: Choose) {
  if (gates.length === 0) return [];
  const rows = gates.map((gate) =>
    make(
      'tr',
      { class: gate.passed ? 'passed' : 'failed' },
      make('th', { scope: 'row' }, mark(gate.passed ? 'passed' : 'failed'), nameGate(gate, choose)),
      make('td', {}, gate.metric),
      make('td', { class: 'value' }, sayValue(gate)),
      make('td', {}, sayWanted(gate)),
    ),
  );
  const head = ['Gate', 'Metric', 'Value', 'Wanted'].map((name) => make('th', { scope: 'col' }, name));
  const table = make(
    'table',
    { class: 'gates' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
  return [make('section', { class: 'box', 'aria-label': 'Gates' }, table)];
}

function sayWanted({ min, max, better_than: base, test }: GateResult) {
  if (base === undefined || test === undefined) return boundsOf(min, max);
  const { p_value: p, pairs, flaw } = test;
  const words = flaw === null ? '' : `, ${flaws[flaw]}`;
  const known = p === null ? '' : ` p = ${p < 0.0001 ? '< 0.0001' : p.toFixed(4)},`;
  return make(
    'span',
    {},
    'better than ',
    foreign(base),
    ` (${known} ${pairs} pairs${words})`.replace('( ', '('),
  );
}

const flaws = { too_few_pairs: 'too few', too_many_missing: 'too many results are missing' };

function nameGate({ eval: id = '', tag = '', variant = '' }: GateResult, choose: Choose) {
  const named = button('', () => choose({ eval: id, tag, status: 'failed' }), {
    class: 'link',
    title: 'Show the cases that did not pass',
  });
  named.append(id === '' ? 'Whole cases' : foreign(id));
  if (tag !== '') named.append(' ', foreign(tag, 'tag'));
  if (variant !== '') named.append(' ', foreign(variant, 'tag'));
  return named;
}

/** Four decimals, or all of them when four would make the value look like the bound that it misses. */
function sayValue({ value, min, max }: GateResult) {
  if (value === null) return '–';
  const shorts = [value.toFixed(4), value.toPrecision(12)].map(Number);
  return String(shorts.find((short) => short === value || (short !== min && short !== max)) ?? value);
}

/** What the answers took: tokens, cost and time. */
function renderTotals(totals: Totals) {
  const { answers, cached, failed, input_tokens: input, output_tokens: output, cost_usd: cost } = totals;
  const { unknown, answer_ms: times, queue_ms: waits } = totals;
  const facts = factList([
    ['Answers', `${count(answers)}${cached === 0 ? '' : `, ${count(cached)} cached`}`],
    ['Failed', failed === 0 ? null : count(failed)],
    ['Tokens in', input === null ? null : sum(count(input), unknown.tokens)],
    ['Tokens out', output === null ? null : sum(count(output), unknown.tokens)],
    ['Cost', cost === null ? null : sum(dollars(cost), unknown.cost_usd)],
    ['Answer time, p50 / p95 / p99', percentiles(times)],
    ['Queue, p50 / p95 / p99', waits === null || waits.sum < 1 ? null : percentiles(waits)],
    ['In queues altogether', waits === null || waits.sum < 1 ? null : duration(waits.sum)],
  ]);
  return make('section', { class: 'box', 'aria-label': 'Answers' }, facts);
}

/** A sum that lacks some answers says so. */
function sum(text: string, unknown: number) {
  return unknown === 0 ? text : `${text} (${count(unknown)} unknown)`;
}

function percentiles(times: Times | null) {
  return times === null ? null : [times.p50, times.p95, times.p99].map(duration).join(' / ');
}

function dollars(usd: number) {
  if (usd === 0 || usd >= 0.1) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(9, 1 - Math.floor(Math.log10(usd))))}`;
}
