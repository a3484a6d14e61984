import { button, factList, fold, foreign, make, row, table } from '../../../../../base/page/dom.ts';
import {
  boundsOf,
  count,
  counted,
  duration,
  instant,
  meanWithError,
  percent,
} from '../../../../../base/page/format.ts';
import { mark, pill } from '../../../../../base/page/text.ts';
import { formatUsd } from '../../../../../base/text/phrases.ts';
import type { GateResult, RowProblem, SuiteReport } from '../../../../record.ts';
import type { Times, Totals } from '../../../../run/stats-record.ts';
import { describeP } from '../../../numbers.ts';
import type { Data } from '../data.ts';
import { renderVariants } from '../matrix/variants-table.ts';
import { type Choose, renderEvalCard, renderHead, renderRate, renderTags } from './eval-card.ts';

export function renderSummary(data: Data, choose: Choose) {
  const { report, header } = data;
  return make(
    'div',
    { class: 'summary' },
    renderHeadline(data),
    renderVoid(report),
    renderNotices(data),
    report !== null && renderGates(report.gates, choose),
    renderProblems(data),
    // Totals over all variants are not informative.
    report !== null && header.variants !== undefined && renderVariants(report),
    report !== null &&
      header.variants === undefined && [
        report.totals !== undefined && renderTotals(report.totals),
        renderEvals(data, report, choose),
      ],
  );
}

function renderHeadline({ header, report, entries, isLoading, served }: Data) {
  const isRunning = served?.isRunning === true;
  const verdict = isRunning
    ? pill('unscored', 'In progress')
    : report === null
      ? pill('unscored', isLoading ? 'Loading' : 'Not finished')
      : pill(report.status, verdictWords[report.status]);
  const facts = factList([
    ['Cases', count(report?.cases ?? entries.length)],
    ['Variants', header.variants === undefined ? null : count(header.variants.length)],
    ['Epochs', header.epochs > 1 ? count(header.epochs) : null],
    ['Took', report === null || isRunning ? null : duration(report.duration_ms)],
    ['Started', instant(header.started_at)],
    ['Suite file', foreign(header.file)],
    ['Run', foreign(header.run_id, 'run-id')],
  ]);
  const title = make('div', { class: 'title' }, make('h1', {}, foreign(header.suite)), verdict);
  return make('header', { class: 'headline' }, title, facts);
}

const verdictWords = { passed: 'Passed', failed: 'Failed', error: 'Error' };

function renderNotices({ report, dropped, problems, isLoading, served }: Data) {
  const ofRun = (report?.problems ?? []).filter(({ scope }) => scope === 'run').length;
  const notices = [
    served?.isRunning === true &&
      'This run is in progress: the report has only the cases that were done. Reload the page to see more.',
    report === null && !isLoading && 'This run did not finish: the report has only the cases that were done.',
    report?.bailed === true && 'The run ended early, because it reached the maximum number of failures.',
    dropped > 0 &&
      `To keep this page small, the details of ${counted(dropped, 'passed case')} were left out. All failures have theirs.`,
    report !== null &&
      report.problem_count - ofRun > problems.length &&
      `Of ${counted(report.problem_count - ofRun, 'invalid row')} the first ${count(problems.length)} are listed.`,
  ];
  return notices.map((text) => text !== false && make('p', { class: 'notice', role: 'note' }, text));
}

function renderVoid(report: SuiteReport | null) {
  const ofRun = (report?.problems ?? []).filter(({ scope }) => scope === 'run');
  if (ofRun.length === 0) return null;
  const title = make('h2', {}, mark('failed'), 'The run is invalid');
  return make('section', { class: 'box void', 'aria-label': 'The run is invalid' }, title, listOf(ofRun));
}

function renderProblems({ problems: all }: Data) {
  const problems = all.filter(({ scope }) => scope !== 'run');
  if (problems.length === 0) return null;
  const title = make('span', {}, mark('failed'), `${counted(problems.length, 'invalid row')}`);
  const list = fold(title, problems.length <= 5, listOf(problems.slice(0, 200)));
  list.classList.add('box');
  return list;
}

function listOf(problems: readonly RowProblem[]) {
  const items = problems.map(({ file, line, column, message, hint }) =>
    make(
      'li',
      {},
      foreign(`${file}:${line}:${column}`, 'place'),
      make('p', {}, foreign(message)),
      hint !== undefined && make('p', { class: 'hint' }, foreign(hint)),
    ),
  );
  return make('ul', { class: 'problems' }, items);
}

function renderEvals({ header }: Data, report: SuiteReport, choose: Choose) {
  const stats = new Map(Object.entries(report.evals));
  const cards = header.evals.map((about) => {
    const known = stats.get(about.id);
    return known !== undefined && renderEvalCard(about, known, choose);
  });
  const whole = header.evals.length > 1 && renderOverall(report, choose);
  const all = make('div', { class: 'cards' }, whole, cards);
  return make('section', { 'aria-label': 'Evals' }, make('h2', {}, 'Evals'), all);
}

function renderOverall({ overall }: SuiteReport, choose: Choose) {
  const { flaky, count: all } = overall;
  const facts = factList(
    [
      ['Weighted mean', meanWithError(overall)],
      ['Unscored', count(overall.unscored)],
      ['Flaky', flaky === 0 ? null : `${count(flaky)} (${percent(flaky / all)})`],
    ],
    'facts small',
  );
  return make(
    'article',
    { class: 'card', 'aria-label': 'Whole cases' },
    renderHead('Whole cases', 'all assertions and guardrails'),
    renderRate(overall),
    facts,
    renderTags(overall.tags, '', choose),
  );
}

function renderGates(gates: readonly GateResult[], choose: Choose) {
  if (gates.length === 0) return null;
  const rows = gates.map((gate) => {
    const verdict = gate.passed ? 'passed' : 'failed';
    const value = make('td', { class: 'value' }, sayValue(gate));
    const line = row([mark(verdict), nameGate(gate, choose)], gate.metric, value, sayWanted(gate));
    line.className = verdict;
    return line;
  });
  const all = table('gates', ['Gate', 'Metric', 'Value', 'Wanted'], rows);
  return make('section', { class: 'box', 'aria-label': 'Gates' }, all);
}

function sayWanted({ min, max, better_than: base, test }: GateResult) {
  if (base === undefined || test === undefined) return boundsOf(min, max);
  const { p_value: p, pairs, flaw } = test;
  const words = flaw === null ? '' : `, ${flaws[flaw]}`;
  const known = p === null ? '' : `p = ${describeP(p).replace('<', '< ')}, `;
  return make('span', {}, 'better than ', foreign(base), ` (${known}${pairs} pairs${words})`);
}

const flaws = { too_few_pairs: 'too few', too_many_missing: 'too many results are missing' };

function nameGate({ eval: id = '', tag = '', variant = '' }: GateResult, choose: Choose) {
  const name = [
    id === '' ? 'Whole cases' : foreign(id),
    tag !== '' && [' ', foreign(tag, 'tag')],
    variant !== '' && [' ', foreign(variant, 'tag')],
  ];
  return button(name, () => choose({ eval: id, tag, status: 'failed' }), {
    class: 'link',
    title: 'Show the cases that did not pass',
  });
}

/** Four decimals, or more if four would make the value look like the missed bound. */
function sayValue({ value, min, max }: GateResult) {
  if (value === null) return '–';
  const shorts = [value.toFixed(4), value.toPrecision(12)].map(Number);
  return String(shorts.find((short) => short === value || (short !== min && short !== max)) ?? value);
}

function renderTotals(totals: Totals) {
  const { answers, cached, failed, input_tokens: input, output_tokens: output, cost_usd: cost } = totals;
  const { unknown, answer_ms: times, queue_ms } = totals;
  const waits = queue_ms !== null && queue_ms.sum >= 1 ? queue_ms : null;
  const sum = (text: string, lacks: number) => (lacks === 0 ? text : `${text} (${count(lacks)} unknown)`);
  const percentiles = (of: Times | null) => of && [of.p50, of.p95, of.p99].map(duration).join(' / ');
  const facts = factList([
    ['Answers', `${count(answers)}${cached === 0 ? '' : `, ${count(cached)} cached`}`],
    ['Failed', failed === 0 ? null : count(failed)],
    ['Tokens in', input === null ? null : sum(count(input), unknown.tokens)],
    ['Tokens out', output === null ? null : sum(count(output), unknown.tokens)],
    ['Cost', cost === null ? null : sum(formatUsd(cost), unknown.cost_usd)],
    ['Answer time, p50 / p95 / p99', percentiles(times)],
    ['Queue, p50 / p95 / p99', percentiles(waits)],
    ['In queues altogether', waits && duration(waits.sum)],
  ]);
  return make('section', { class: 'box', 'aria-label': 'Answers' }, facts);
}
