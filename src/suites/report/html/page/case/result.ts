import { pieceBox, renderDiff } from '../../../../../base/page/diff.ts';
import { type Child, factList, fold, foreign, make, note, row, table } from '../../../../../base/page/dom.ts';
import { bounds, count, duration, score } from '../../../../../base/page/format.ts';
import {
  hasMembers,
  mark,
  renderFault,
  renderJson,
  renderText,
  toPrettyJson,
  verdictOf,
} from '../../../../../base/page/text.ts';
import type { EpochRecord, EvalResult, GuardRecord } from '../../../../record.ts';
import type { Data } from '../data.ts';

export function renderResult({ header }: Data, result: EvalResult, epoch: EpochRecord) {
  const { detail, params = {}, data, error, stderr, guard, content, threshold } = result;
  const about = header.evals.find(({ id }) => id === result.eval);
  // A metric cannot pass or fail.
  const isMetric = about?.role === 'metric' && result.score !== null;
  const isFailed = !result.passed && !isMetric;
  const wanted = !isMetric && [' ', make('small', {}, `wanted ${bounds(threshold)}`)];
  const title = make(
    'span',
    { class: 'result-title' },
    !isMetric && mark(verdictOf(result.passed, result.score === null)),
    foreign(result.eval, 'result-name'),
    make('small', {}, about === undefined ? '' : `${about.type}, ${about.role}`),
    make('span', { class: 'result-score' }, score(result.score), wanted),
  );
  const folded = fold(
    title,
    isFailed,
    detail !== '' && renderText(detail),
    error !== undefined && renderFault(error),
    guard !== undefined && renderGuard(guard),
    renderComparisons(params, content ?? epoch.content, isFailed),
    content !== undefined && fold('Judged in place of the text', false, renderText(content)),
    hasMembers(params) && fold('Params', false, renderJson(params)),
    data !== undefined && hasMembers(data) && fold('Data', isFailed, renderJson(data)),
    stderr !== undefined && fold('Standard error', error !== undefined, renderText(stderr, 'code')),
    note(sayTime(result)),
  );
  folded.classList.add('result');
  return folded;
}

function sayTime({ duration_ms: ms, queue_ms: queue = 0, attempts }: EvalResult) {
  const waited = queue === 0 ? '' : `, after ${duration(queue)} in the queue`;
  return `${duration(ms)}${waited}${attempts > 1 ? `, ${count(attempts)} attempts` : ''}`;
}

function renderGuard(guard: GuardRecord) {
  const facts = factList([
    ['Should be flagged', guard.expected ? 'yes' : 'no'],
    ['Was flagged', guard.flagged ? 'yes' : 'no'],
    ['Verdict', guard.verdict],
    ['Decided by', guard.decided_by === null ? null : foreign(guard.decided_by)],
    ['Confidence', guard.confidence === null ? null : score(guard.confidence)],
    ['At', `${guard.hook}, ${guard.phase}`],
  ]);
  const rows = guard.hooks.map(({ name, verdict, duration_ms: ms }) =>
    row(foreign(name), foreign(verdict), duration(ms)),
  );
  return rows.length === 0
    ? facts
    : make('div', {}, facts, table('figures', ['Hook', 'Verdict', 'Time'], rows));
}

/** Params with the expected text, as the built-in evals and many others name them. */
const wholes = ['expected', 'truth', 'reference', 'target', 'answer', 'gold'];

/** Params with texts that should, or should not, occur in the answer. */
const parts = ['patterns', 'contains', 'words', 'fields'];

/** Characters of a text in which others are marked. */
const LARGEST = 100_000;

function renderComparisons(
  params: Readonly<Record<string, unknown>>,
  content: string,
  isOpen: boolean,
): Child {
  const given = Object.entries(params);
  const whole = given
    .filter(([name, value]) => wholes.includes(name) && value !== null)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .slice(0, 5)
        .map((one) => fold(`Compared with ${name}`, isOpen, compareWhole(one, content))),
    );
  const sought = given
    .filter(([name]) => parts.includes(name))
    .map(([name, value]) => {
      const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
      return texts.length > 0 && fold(`Looked for ${name}`, isOpen, renderSought(texts, content));
    });
  return [whole, sought];
}

function compareWhole(value: unknown, content: string): Child {
  const label = (text: string) => make('p', { class: 'label' }, text);
  const expected = typeof value === 'string' ? value : toPrettyJson(value);
  const actual = typeof value === 'object' ? prettyIfJson(content) : content;
  if (expected === actual) return note('They are the same.');
  const wanted = [label('Expected'), renderText(expected, 'code')];
  // A diff would scatter a short answer over a long text, so its position is marked instead.
  if (expected.length * 4 < actual.length)
    return [wanted, label('In the text'), renderFound([expected], actual)];
  const legend = { removed: 'expected, but missing', added: 'there, but not expected' };
  return (
    renderDiff(expected, actual, legend) ?? [
      note('Too different or too long to be compared word by word.'),
      ...[wanted, label('Actual'), renderText(actual, 'code')],
    ]
  );
}

function renderSought(texts: readonly string[], content: string) {
  const items = texts.slice(0, 100).map((text) => {
    const isThere = text !== '' && content.toLowerCase().includes(text.toLowerCase());
    return make('li', {}, make('code', {}, text), make('small', {}, isThere ? 'found' : 'not found'));
  });
  return make('div', {}, make('ul', { class: 'sought' }, items), renderFound(texts, content));
}

function renderFound(texts: readonly string[], content: string) {
  const shown = content.slice(0, LARGEST);
  const lower = shown.toLowerCase();
  const pieces: Child[] = [];
  let from = 0;
  for (const [start, end] of lower.length === shown.length ? findPlaces(texts, lower) : []) {
    if (start < from) continue;
    pieces.push(shown.slice(from, start), make('mark', {}, shown.slice(start, end)));
    from = end;
  }
  const pre = pieceBox([pieces, shown.slice(from)]);
  if (shown.length === content.length) return pre;
  return make('div', {}, pre, note(`The first ${count(LARGEST)} characters are searched.`));
}

function findPlaces(texts: readonly string[], lower: string): [start: number, end: number][] {
  const places: [start: number, end: number][] = [];
  for (const text of texts.filter((one) => one !== '')) {
    const wanted = text.toLowerCase();
    let at = lower.indexOf(wanted);
    while (at >= 0 && places.length < 2000) {
      places.push([at, at + wanted.length]);
      at = lower.indexOf(wanted, at + wanted.length);
    }
  }
  return places.sort(([a], [b]) => a - b);
}

function prettyIfJson(text: string) {
  try {
    return toPrettyJson(JSON.parse(text));
  } catch {
    return text;
  }
}
