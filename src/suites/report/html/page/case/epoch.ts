import type { Cut } from '../../../../../base/json/cut-value.ts';
import { button, type Child, fold, foreign, make, note, row, table } from '../../../../../base/page/dom.ts';
import { count, counted, duration, score } from '../../../../../base/page/format.ts';
import {
  hasMembers,
  mark,
  renderFault,
  renderJson,
  renderText,
  toPrettyJson,
  verdictOf,
} from '../../../../../base/page/text.ts';
import type { EvalToolCall } from '../../../../../contract/eval.ts';
import type { ChatMessage } from '../../../../../contract/provider.ts';
import type { CaseRecord, EpochRecord, SubjectRecord } from '../../../../record.ts';
import type { Data, Detail } from '../data.ts';
import { renderResult } from './result.ts';

export function renderEpoch(data: Data, epoch: EpochRecord) {
  const { subject, content, results, variables, metadata } = epoch;
  return make(
    'div',
    { class: 'epoch-body' },
    subject !== undefined && renderSubject(subject),
    make('h3', {}, 'Answer'),
    renderText(content),
    make('h3', {}, 'Results'),
    results.length === 0 && note('No eval judged this case.'),
    results.map((result) => renderResult(data, result, epoch)),
    renderConversation(epoch),
    variables !== undefined && [make('h3', {}, 'Variables'), renderFields(Object.entries(variables))],
    hasMembers(metadata) && [make('h3', {}, 'Metadata'), renderJson(metadata)],
  );
}

function renderSubject({ status, duration_ms: ms, queue_ms = 0, cached, attempts, error }: SubjectRecord) {
  const words = [
    status === 'ok' ? 'The subject answered' : 'The subject failed',
    cached ? ' from the cache' : ` in ${duration(ms)}`,
    queue_ms === 0 ? '' : `, after ${duration(queue_ms)} in the queue`,
    attempts > 1 ? `, after ${count(attempts)} attempts` : '',
    '.',
  ];
  const line = make('p', { class: status === 'ok' ? 'note' : 'note bad' }, words.join(''));
  return error === undefined ? line : make('div', {}, line, renderFault(error));
}

export function renderEpochs(data: Data, record: CaseRecord): Child {
  const { evals } = data.header;
  const { epochs } = record;
  const reduced = record.results.map((result) => {
    const reducer = evals.find(({ id }) => id === result.eval)?.reducer ?? '';
    return row(
      [mark(verdictOf(result.passed, result.score === null)), foreign(result.eval)],
      [`${score(result.score)} `, make('small', {}, reducer)],
      `${result.passed_epochs} of ${epochs.length}`,
    );
  });
  const shown = make('div', { class: 'epoch-shown' });
  const choose = (index: number) => {
    const epoch = epochs[index];
    if (epoch !== undefined) shown.replaceChildren(renderEpoch(data, epoch));
    for (const [other, tab] of tabs.entries()) tab.setAttribute('aria-pressed', String(other === index));
  };
  const isMetric = (id: string) => evals.some((known) => known.id === id && known.role === 'metric');
  const tabs = epochs.map(({ epoch, results }, index) => {
    const passed = results.every((result) => result.passed || isMetric(result.eval));
    const sign = mark(
      verdictOf(
        passed,
        results.some((result) => result.score === null),
      ),
    );
    return button([sign, `Epoch ${epoch}`], () => choose(index), { class: 'chip epoch' });
  });
  const firstFailed = epochs.findIndex(({ results }) => results.some((result) => !result.passed));
  choose(Math.max(0, firstFailed));
  return [
    table('figures', ['Eval', 'Score', 'Epochs passed'], reduced),
    make('div', { class: 'chips', role: 'group', 'aria-label': 'Epochs' }, tabs),
    shown,
  ];
}

/** Marks the judged message, which is often the last one. */
function renderConversation({ messages, tool_calls: calls, content }: EpochRecord): Child {
  const judged = messages.findLastIndex(
    (message) => message.role === 'assistant' && message.content === content,
  );
  const known = messages.map((message, index) => {
    const own = calls.filter((call) => call.index === index);
    return renderMessage(message, own, index === judged);
  });
  const others = calls.filter(({ index }) => messages[index] === undefined).map(renderCall);
  if (known.length + others.length === 0) return null;
  return [make('h3', {}, 'Conversation'), make('ol', { class: 'talk' }, known, others)];
}

function renderMessage(
  { role, content, ...others }: ChatMessage,
  calls: readonly EvalToolCall[],
  isJudged: boolean,
) {
  const { tool_calls: asked, ...rest } = others;
  const shown = calls.length > 0 || asked === undefined ? rest : others;
  return make(
    'li',
    { class: `message ${role}` },
    make(
      'p',
      { class: 'role' },
      foreign(role),
      isJudged && make('span', { class: 'flag judged' }, 'judged text'),
    ),
    (content !== '' || calls.length === 0) && renderText(content),
    calls.length > 0 && make('ol', { class: 'calls' }, calls.map(renderCall)),
    hasMembers(shown) && renderJson(shown),
  );
}

function renderCall({ name, args, result, error }: EvalToolCall) {
  const text = typeof args === 'string' ? args : toPrettyJson(args);
  return make(
    'li',
    { class: 'call' },
    make('p', { class: 'role' }, 'calls ', make('code', {}, foreign(name))),
    renderText(text, 'code'),
    result !== '' && [make('p', { class: 'role' }, 'result'), renderText(result, 'code')],
    error !== '' && [make('p', { class: 'role bad' }, 'error'), renderText(error, 'code')],
  );
}

export function renderRow({ row: own, row_cuts: kept = [], page_cuts: cuts = [] }: Detail): Child {
  const fields = own === undefined ? [] : Object.entries(own);
  return [
    renderCuts('To keep this page small, this case is cut:', cuts),
    renderCuts('Of this row the beginnings were kept:', kept),
    fields.length > 0 && fold(`Row (${counted(fields.length, 'field')})`, true, renderFields(fields)),
  ];
}

function renderFields(fields: readonly (readonly [name: string, value: unknown])[]) {
  const items = fields.slice(0, MOST_FIELDS).map(([name, value]) => {
    const text = typeof value === 'string' ? renderText(value) : renderJson(value);
    return make('div', {}, make('dt', {}, foreign(name)), make('dd', {}, text));
  });
  const more = fields.length - MOST_FIELDS;
  const list = make('dl', { class: 'fields' }, items);
  return more > 0 ? make('div', {}, list, note(`and ${counted(more, 'more field')}`)) : list;
}

const MOST_FIELDS = 200;

function renderCuts(words: string, cuts: readonly Cut[]) {
  if (cuts.length === 0) return null;
  const shown = cuts
    .slice(0, MOST_CUTS)
    .map(({ path, unit, kept, length }, index) => [
      index === 0 ? ' ' : ', ',
      make('code', {}, foreign(path)),
      ` to ${count(kept)} of ${count(length)} ${unit}`,
    ]);
  const more = cuts.length > MOST_CUTS ? ', and more' : '';
  const rest = `${more}. signalbox eval show has all that was stored.`;
  return make('p', { class: 'note cut' }, words, shown, rest);
}

const MOST_CUTS = 10;
