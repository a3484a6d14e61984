import { stringifyJson } from '../../../base/json/json.ts';
import { button, fold, foreign, make, note, row, table, unseen } from '../../../base/page/dom.ts';
import { count, counted } from '../../../base/page/format.ts';
import { renderText } from '../../../base/page/text.ts';
import { type Call, describe } from '../api.ts';
import type { Page } from '../section.ts';
import { entriesOf, writeKey } from './json-tree.ts';
import { askerOf } from './list.ts';
import type { Decision, Outbox, Outcome } from './outbox.ts';

interface Options {
  readonly page: Page;
  readonly outbox: Outbox;
  readonly calls: readonly Call[];
  readonly drop: (id: string) => void;
  readonly onDecided: (ids: readonly string[]) => void;
  readonly onClose: () => void;
}

/** Calls of one tool side by side, and one decision for all of them. */
export function makeComparison({ page, outbox, calls, drop, onDecided, onClose }: Options) {
  const { api } = page;
  const element = make('section', { class: 'several', 'aria-label': 'Selected calls' });
  const tool = calls[0]?.tool ?? '';
  let whole: readonly Call[] = [];
  let isRejecting = false;
  let given = '';

  const load = async () => {
    element.replaceChildren(heading(calls.length), note('Loading …'));
    try {
      const all: Call[] = [];
      // Lists shorten long arguments.
      for (const call of calls)
        all.push(
          call.args_cut === true ? await api.get('/pendings/{id}', { params: { id: call.id } }) : call,
        );
      whole = all;
      render();
    } catch (error) {
      element.replaceChildren(
        heading(calls.length),
        make('p', { role: 'alert' }, describe(error)),
        button('Try again', () => void load()),
      );
    }
  };
  const heading = (number: number) =>
    make(
      'header',
      { class: 'call-head' },
      button('Back', onClose, { class: 'link back' }),
      make('h2', { tabindex: -1 }, `${counted(number, 'call')} of `, foreign(tool)),
    );

  const render = (problem?: string) => {
    isRejecting = false;
    const rows = whole.map((call) => ({ call, cells: leavesOf(call.args) }));
    const names = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
    const usual = new Map(
      names.map((name) => [name, mostCommon(rows.map(({ cells }) => cells.get(name) ?? ''))]),
    );
    const differing = names.filter((name) => new Set(rows.map(({ cells }) => cells.get(name))).size > 1);
    const same = names.filter((name) => !differing.includes(name));
    const lines = rows.map(({ call, cells }) =>
      row(
        [
          make(
            'a',
            { class: 'link', href: page.hrefOf(`/inbox/${encodeURIComponent(call.id)}`) },
            askerOf(call),
            unseen(` ${call.id}`),
          ),
          ' ',
          button('Leave out', () => drop(call.id), { class: 'link leave' }),
        ],
        ...differing.map((name) => renderCell(cells.get(name), usual.get(name))),
      ),
    );
    const reason = make('input', {
      id: 'reason',
      type: 'text',
      placeholder: 'Reason',
      'aria-label': 'Reason for all',
      autocomplete: 'off',
    });
    reason.value = given;
    element.replaceChildren(
      heading(whole.length),
      make(
        'div',
        { class: 'call-main' },
        problem !== undefined && make('p', { class: 'fault', role: 'alert' }, problem),
        same.length > 0 &&
          fold(
            `The same in all: ${counted(same.length, 'value')}`,
            true,
            make(
              'dl',
              { class: 'same' },
              same.map((name) =>
                make('div', {}, make('dt', {}, name), make('dd', {}, renderValue(usual.get(name)))),
              ),
            ),
          ),
        differing.length === 0 && note('The arguments of all calls are the same.'),
        make(
          'div',
          { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison' },
          table(
            'compare',
            ['Asked by', ...differing.map((name) => make('th', { scope: 'col' }, name))],
            lines,
          ),
        ),
      ),
      make(
        'footer',
        { class: 'decide' },
        reason,
        make(
          'div',
          { class: 'buttons' },
          button(
            [`Approve ${count(whole.length)} `, make('kbd', { 'aria-hidden': 'true' }, 'a')],
            () => decide('approve', reason),
            { class: 'primary' },
          ),
          button(
            [`Reject ${count(whole.length)} `, make('kbd', { 'aria-hidden': 'true' }, 'r')],
            () => decide('reject', reason),
            { class: 'danger' },
          ),
        ),
      ),
    );
    reason.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && isRejecting) decide('reject', reason);
    });
  };

  const decide = (decision: 'approve' | 'reject', field: HTMLInputElement) => {
    const reason = field.value.trim();
    if (decision === 'reject' && reason === '') {
      isRejecting = true;
      field.placeholder = 'Why do you reject them? Enter rejects.';
      return field.focus();
    }
    const decisions: Decision[] = whole.map(({ id, digest }) => ({
      id,
      decision,
      digest,
      ...(reason !== '' && { reason }),
    }));
    const words = `${decision === 'approve' ? 'Approve' : 'Reject'} ${counted(decisions.length, 'call')} of ${tool}`;
    element.replaceChildren(heading(whole.length), note(`${words}: about to be sent.`));
    given = reason;
    const onOutcome = (outcomes: readonly Outcome[]) => {
      const [first] = outcomes;
      // The request failed as a whole: the selection and the reason stay.
      if (
        first !== undefined &&
        outcomes.every(({ pending, problem }) => pending === undefined && problem === first.problem)
      )
        return render(first.problem);
      onDecided(outcomes.map(({ id }) => id));
      renderOutcomes(outcomes);
    };
    outbox.submit(words, { decisions, onOutcome, onUndone: () => render() });
  };

  const renderOutcomes = (outcomes: readonly Outcome[]) => {
    const failed = outcomes.filter(({ problem }) => problem !== undefined);
    const cells = outcomes.map(({ id, problem }) =>
      row(
        make('a', { class: 'link', href: page.hrefOf(`/inbox/${encodeURIComponent(id)}`) }, id),
        make('span', { class: problem === undefined ? '' : 'bad' }, problem ?? 'done'),
      ),
    );
    element.replaceChildren(
      heading(outcomes.length),
      make(
        'div',
        { class: 'call-main' },
        make(
          'p',
          { role: 'status' },
          `${counted(outcomes.length - failed.length, 'call')} decided, ${count(failed.length)} not.`,
        ),
        table('words', ['Call', 'Result'], cells),
      ),
    );
  };

  void load();
  const press = (kind: string) => element.querySelector<HTMLElement>(`footer .${kind}`)?.click();
  return {
    element,
    focus: () => element.querySelector<HTMLElement>('h2')?.focus(),
    key({ key }: KeyboardEvent) {
      if (key === 'a') press('primary');
      else if (key === 'r') press('danger');
      else return false;
      return true;
    },
  };
}

/** The JSON texts of all values, by their paths, of which no two are alike. Lists count as one value. */
function leavesOf(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  const entries = Array.isArray(value) ? undefined : entriesOf(value);
  if (entries === undefined || (entries.length === 0 && path !== ''))
    return found.set(path, stringifyJson(value));
  for (const [name, member] of entries)
    leavesOf(member, `${path === '' ? '' : `${path}.`}${writeKey(name)}`, found);
  return found;
}

/** Undefined if they all differ, and thus no one stands out. */
function mostCommon(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [[text, most] = ['', 0]] = [...counts].sort(([, a], [, b]) => b - a);
  return most === 1 && texts.length > 1 ? undefined : text;
}

function renderCell(json: string | undefined, usual: string | undefined) {
  const differs = usual !== undefined && (json ?? '') !== usual;
  return make(
    'td',
    { class: differs ? 'differs' : false },
    differs && unseen('differs: '),
    renderValue(json),
  );
}

function renderValue(json: string | undefined) {
  if (json === undefined) return make('small', {}, 'not given');
  if (json.length <= LONG) return make('code', {}, json);
  return fold(
    [
      make('code', {}, `${json.slice(0, LONG)} …`),
      make('small', {}, ` ${counted(json.length, 'character')}`),
    ],
    false,
    renderText(json, 'code'),
  );
}

const LONG = 160;
