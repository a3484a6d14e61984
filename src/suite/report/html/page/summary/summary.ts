import type { RowProblem, SuiteReport } from '../../../../run/record.ts';
import { mark, pill } from '../case/mark.ts';
import type { Data } from '../data.ts';
import { factList, fold, foreign, make } from '../dom.ts';
import { count, counted, duration, instant, meanWithError, percent } from '../format.ts';
import { renderVariants } from '../matrix/variants-table.ts';
import type { Choose } from './eval-card.ts';
import { renderEvalCard, renderHead, renderRate, renderTagTable } from './eval-card.ts';
import { renderGates } from './gates.ts';
import { renderTotals } from './totals.ts';

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
