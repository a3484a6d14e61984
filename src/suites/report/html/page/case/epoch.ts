import type { Cut } from '../../../../../base/json/cut-value.ts';
import type { EvalToolCall } from '../../../../../contract/eval.ts';
import type { ChatMessage } from '../../../../../contract/provider.ts';
import type { CaseRecord, EpochRecord, SubjectRecord } from '../../../../record.ts';
import type { Data, Detail } from '../data.ts';
import { button, fold, foreign, make } from '../dom.ts';
import { count, counted, duration, score } from '../format.ts';
import { renderResult } from './result.ts';
import { hasMembers, mark, renderFault, renderJson, renderText, toPrettyJson, verdictOf } from './text.ts';

/** One run of a case: the answer first, what the evals said of it, and how it came about. */
export function renderEpoch(data: Data, epoch: EpochRecord) {
  const parts = [
    ...(epoch.subject === undefined ? [] : [renderSubject(epoch.subject)]),
    make('h3', {}, 'Answer'),
    renderText(epoch.content),
    make('h3', {}, 'Results'),
    ...(epoch.results.length === 0 ? [make('p', { class: 'note' }, 'No eval judged this case.')] : []),
    ...epoch.results.map((result) => renderResult(data, result, epoch)),
    ...renderConversation(epoch),
    ...(epoch.variables === undefined
      ? []
      : [make('h3', {}, 'Variables'), renderFields(Object.entries(epoch.variables))]),
    ...(hasMembers(epoch.metadata) ? [make('h3', {}, 'Metadata'), renderJson(epoch.metadata)] : []),
  ];
  return make('div', { class: 'epoch-body' }, ...parts);
}

function renderSubject({
  status,
  duration_ms: ms,
  queue_ms: queue = 0,
  cached,
  attempts,
  error,
}: SubjectRecord) {
  const words = [
    status === 'ok' ? 'The subject answered' : 'The subject failed',
    cached ? ' from the cache' : ` in ${duration(ms)}`,
    queue === 0 ? '' : `, after ${duration(queue)} in the queue`,
    attempts > 1 ? `, after ${count(attempts)} attempts` : '',
    '.',
  ];
  const line = make('p', { class: status === 'ok' ? 'note' : 'note bad' }, words.join(''));
  return error === undefined ? line : make('div', {}, line, renderFault(error));
}

/** Several runs of the case: what they came to together, and one of them at a time. */
export function renderEpochs(data: Data, record: CaseRecord) {
  const shown = make('div', { class: 'epoch-shown' });
  const choose = (index: number) => {
    const epoch = record.epochs[index];
    if (epoch !== undefined) shown.replaceChildren(renderEpoch(data, epoch));
    for (const [other, tab] of tabs.entries()) tab.setAttribute('aria-pressed', String(other === index));
  };
  const tabs = record.epochs.map(({ epoch, results }, index) => {
    const passed = results.every((result) => result.passed || isMetric(data, result.eval));
    const unscored = results.some((result) => result.score === null);
    const tab = button('', () => choose(index), { class: 'chip epoch' });
    tab.append(mark(verdictOf(passed, unscored)), `Epoch ${epoch}`);
    return tab;
  });
  const firstFailed = record.epochs.findIndex(({ results }) => results.some((result) => !result.passed));
  choose(Math.max(0, firstFailed));
  const group = make('div', { class: 'chips', role: 'group', 'aria-label': 'Epochs' }, ...tabs);
  return [renderReduced(data, record), group, shown];
}

function isMetric({ header }: Data, id: string) {
  return header.evals.some((known) => known.id === id && known.role === 'metric');
}

function renderReduced({ header }: Data, { results, epochs }: CaseRecord) {
  const rows = results.map((result) => {
    const reducer = header.evals.find(({ id }) => id === result.eval)?.reducer ?? '';
    return make(
      'tr',
      {},
      make(
        'th',
        { scope: 'row' },
        mark(verdictOf(result.passed, result.score === null)),
        foreign(result.eval),
      ),
      make('td', {}, `${score(result.score)} `, make('small', {}, reducer)),
      make('td', {}, `${result.passed_epochs} of ${epochs.length}`),
    );
  });
  const head = ['Eval', 'Score', 'Epochs passed'].map((name) => make('th', { scope: 'col' }, name));
  return make(
    'table',
    { class: 'figures' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
}

/** The conversation with its tool calls; the message that was judged, often the last one, is marked. */
function renderConversation({ messages, tool_calls: calls, content }: EpochRecord) {
  const judged = messages.findLastIndex(
    (message) => message.role === 'assistant' && message.content === content,
  );
  const known = messages.map((message, index) => {
    const own = calls.filter((call) => call.index === index);
    return renderMessage(message, own, index === judged);
  });
  const strangers = calls.filter(({ index }) => messages[index] === undefined).map(renderCall);
  if (known.length + strangers.length === 0) return [];
  return [make('h3', {}, 'Conversation'), make('ol', { class: 'talk' }, ...known, ...strangers)];
}

function renderMessage(
  { role, content, ...others }: ChatMessage,
  calls: readonly EvalToolCall[],
  isJudged: boolean,
) {
  // The calls of the epoch say the same and more.
  const { tool_calls: asked, ...rest } = others;
  const shown = calls.length > 0 || asked === undefined ? rest : others;
  return make(
    'li',
    { class: `message ${role}` },
    make(
      'p',
      { class: 'role' },
      foreign(role),
      ...(isJudged ? [make('span', { class: 'flag judged' }, 'judged text')] : []),
    ),
    ...(content === '' && calls.length > 0 ? [] : [renderText(content)]),
    ...(calls.length === 0 ? [] : [make('ol', { class: 'calls' }, ...calls.map(renderCall))]),
    ...(hasMembers(shown) ? [renderJson(shown)] : []),
  );
}

function renderCall({ name, args, result, error }: EvalToolCall) {
  const text = typeof args === 'string' ? args : toPrettyJson(args);
  return make(
    'li',
    { class: 'call' },
    make('p', { class: 'role' }, 'calls ', make('code', {}, foreign(name))),
    renderText(text, 'code'),
    ...(result === '' ? [] : [make('p', { class: 'role' }, 'result'), renderText(result, 'code')]),
    ...(error === '' ? [] : [make('p', { class: 'role bad' }, 'error'), renderText(error, 'code')]),
  );
}

/** The row of the case with its own fields, and what was cut of the case. */
export function renderRow({ row, row_cuts: kept = [], page_cuts: cuts = [] }: Detail) {
  const fields = row === undefined ? [] : Object.entries(row);
  return [
    ...renderCuts('To keep this page small, this case is cut:', cuts),
    ...renderCuts('Of this row the beginnings were kept:', kept),
    ...(fields.length === 0 ? [] : [fold(titleOf(fields.length), true, renderFields(fields))]),
  ];
}

/** Fields by their names: texts as they stand, other values as JSON. */
function renderFields(fields: readonly (readonly [name: string, value: unknown])[]) {
  const items = fields
    .slice(0, MOST_FIELDS)
    .map(([name, value]) =>
      make('div', {}, make('dt', {}, foreign(name)), make('dd', {}, renderValue(value))),
    );
  const more = fields.length - MOST_FIELDS;
  const list = make('dl', { class: 'fields' }, ...items);
  return more > 0
    ? make('div', {}, list, make('p', { class: 'note' }, `and ${counted(more, 'more field')}`))
    : list;
}

/** Fields that are shown; of more, nobody reads them all. */
const MOST_FIELDS = 200;

function titleOf(fields: number) {
  return `Row (${counted(fields, 'field')})`;
}

function renderValue(value: unknown) {
  return typeof value === 'string' ? renderText(value) : renderText(toPrettyJson(value), 'code');
}

function renderCuts(words: string, cuts: readonly Cut[]) {
  if (cuts.length === 0) return [];
  const shown = cuts
    .slice(0, MOST_CUTS)
    .flatMap(({ path, unit, kept, length }, index) => [
      index === 0 ? ' ' : ', ',
      make('code', {}, foreign(path)),
      ` to ${count(kept)} of ${count(length)} ${unit}`,
    ]);
  const more = cuts.length > MOST_CUTS ? ', and more' : '';
  return [
    make('p', { class: 'note cut' }, words, ...shown, `${more}. signalbox eval show has all that was kept.`),
  ];
}

const MOST_CUTS = 10;
