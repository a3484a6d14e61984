import {
  button,
  type Child,
  factList,
  flat,
  fold,
  foreign,
  make,
  note,
  row,
  table,
} from '../../../base/page/dom.ts';
import { count, counted, duration } from '../../../base/page/format.ts';
import { mark, renderFault } from '../../../base/page/text.ts';
import { formatUsd } from '../../../base/text/phrases.ts';
import type { RunDetails, RunSummary, StepDetails } from '../../../contract/run.ts';
import { describe } from '../api.ts';
import { at, makeItem, makeList, moveFocus, scrolled } from '../list.ts';
import type { Page, Section } from '../section.ts';
import { renderControls } from './control.ts';
import { lastedFor, renderLabels, statusPill } from './list.ts';
import { renderStep, renderValue, summarize } from './work.ts';

export function openRun(main: HTMLElement, page: Page, id: string): Section {
  const params = { id };
  const box = (kind: string) => make('div', { class: kind });
  const boxes = {
    ...{ 'run-head': box('run-head'), 'facts-box': box('facts-box'), state: box('state') },
    ...{ values: box('values'), only: box('only'), below: box('below') },
  };
  const openSteps = make('div', { class: 'steps open-steps' });
  const endedSteps = make('div', { class: 'steps' });
  const known = new Map<string, string>();
  let run: RunSummary | undefined;
  let details: RunDetails | undefined;
  let only: string | undefined;
  let isWhole = false;
  /** Leaves a part alone that did not change, with what is open and focused in it. */
  const update = (kind: keyof typeof boxes, value: unknown, render: () => Child) => {
    const text = JSON.stringify(value);
    if (known.get(kind) === text) return;
    known.set(kind, text);
    boxes[kind].replaceChildren(...flat([render()]));
  };
  /** Steps in lists have short texts; an open one loads them whole. */
  const ask = (part: { readonly after?: string; readonly limit: number }, signal: AbortSignal) => {
    const query = { ...part, max_characters: 80, ...(only !== undefined && { step: only }) };
    return page.api.get('/runs/{id}/steps', { params, query, signal });
  };
  const render = (step: StepDetails, after: string | undefined) =>
    renderStepItem(step, async () => {
      const whole = { limit: 100, max_characters: 0, step: step.step };
      const query = { ...whole, ...(after !== undefined && { after }) };
      const { steps, open: unfinished = [] } = await page.api.get('/runs/{id}/steps', { params, query });
      const found = [...unfinished, ...steps].find((each) => keyOf(each) === keyOf(step)) ?? step;
      return [renderStep(found), run !== undefined && renderControls(page, run, refresh, found.step)];
    });
  const open = makeList<StepDetails>({
    ...{ body: openSteps, newest: 'first', keyOf, render, empty: () => null },
    load: async ({ signal }) => ({ items: (await ask({ limit: 1 }, signal)).open ?? [] }),
  });
  const ended = makeList<StepDetails>({
    ...{ body: endedSteps, newest: 'last', keyOf, render, empty: () => note('No step has ended yet.') },
    load: async ({ signal, ...part }) => {
      const { steps, next } = await ask(part, signal);
      return { items: steps, next };
    },
  });
  const showRun = async () => {
    const query = isWhole ? { max_characters: 0 } : {};
    const shown = await page.api.get('/runs/{id}', { params, query });
    const { status, name, pending, input, output } = shown;
    const isOther = run?.status !== status;
    const isFirst = run === undefined;
    run = shown;
    update('run-head', [name, status, pending], () => [
      make('a', { href: page.hrefOf('/runs') }, '‹ Runs'),
      make('h1', { tabindex: -1 }, foreign(name)),
      ...[statusPill(status), foreign(id, 'place')],
      make('div', { class: 'controls' }, renderControls(page, shown, refresh)),
    ]);
    if (isFirst) main.querySelector('h1')?.focus();
    update('facts-box', [shown.updated_at, details?.totals], () => renderFacts(page, shown, details));
    update('state', [shown.error, shown.suspended, shown.waits_until, shown.pendings], () =>
      renderState(page, shown),
    );
    update('values', [input, output], () => [
      fold('Input', isWhole, renderValue(input)),
      output !== null && fold('Output', true, renderValue(output)),
      shortened.test(JSON.stringify([input, output])) && !isWhole && button('Show them whole', showWhole),
    ]);
    if (status === 'completed' || status === 'cancelled') stop();
    return isOther;
  };
  /** Reads all steps on the server, so it waits for what is seen first, and for another status. */
  const showDetails = async () => {
    details = await page.api.get('/runs/{id}/details', { params });
    const { updated_at: changed } = details;
    update('facts-box', [changed, details.totals], () => run && renderFacts(page, run, details));
    update('below', details, () => [renderChildren(page, details), renderEvents(details)]);
  };
  /** Steps are read after the status, so that those of a run that has ended are all there. */
  const load = async (read: 'reset' | 'refresh') => {
    const isOther = await showRun();
    await Promise.all([open[read](), ended[read]()]);
    if (isOther) await showDetails();
  };
  const refresh = () =>
    load('refresh').catch((error) => {
      // What cannot be shown at all says so in the page.
      if (run !== undefined) page.say(describe(error), 'error');
    });
  const showWhole = async () => {
    isWhole = true;
    await refresh();
    // The button is gone.
    boxes.values.querySelector('summary')?.focus();
  };
  const stop = page.watch(['runs', 'pendings'], () => void refresh());
  const { only: filter, below, ...above } = boxes;
  const steps = [make('h2', {}, 'Steps'), filter, openSteps, open.foot, endedSteps, ended.foot];
  main.replaceChildren(...Object.values(above), ...steps, below);
  return {
    show: async ({ query }) => {
      only = query.get('step') ?? undefined;
      update('only', only ?? '', () => {
        const all = make('a', { href: page.hrefOf(`/runs/${encodeURIComponent(id)}`) }, 'Show all steps');
        return only !== undefined && note('Only ', foreign(only, 'place'), ' and steps inside it. ', all);
      });
      try {
        await load('reset');
      } catch (error) {
        stop();
        const back = make('a', { href: page.hrefOf('/runs') }, '‹ Runs');
        main.replaceChildren(
          back,
          make('h1', {}, 'The run cannot be shown'),
          make('p', {}, foreign(describe(error))),
        );
      }
    },
    key: (event) => moveFocus(main, event),
    keys: [
      ['j k', 'next and previous step'],
      ['Enter', 'open or close the step'],
    ],
    close: () => {
      stop();
      open.close();
      ended.close();
    },
  };
}

/** What the server writes in place of the rest of a value. */
const shortened = /\d+ more( characters)?\)|\(\d+ characters\)|"…"/;

function renderStepItem(step: StepDetails, load: () => Promise<Child>) {
  const { status, kind, duration_ms: ms, ended_at: endedAt } = step;
  const line = make(
    'summary',
    { 'data-row': true },
    mark(
      status === 'ok' ? 'passed' : status === 'failed' || status === 'denied' ? 'failed' : 'unscored',
      status,
    ),
    foreign(step.step, 'place'),
    make('span', { class: 'tag' }, kind ?? status),
    make('span', { class: 'words' }, foreign(summarize(step))),
    make('span', { class: 'time' }, ms === null ? '' : duration(ms)),
    make('span', { class: 'time at' }, endedAt === null ? '' : at(endedAt)),
  );
  return makeItem(line, `item ${status}`, load);
}

function keyOf({ step, retry = 0 }: StepDetails) {
  return `${retry} ${step}`;
}

function runLink(page: Page, id: string) {
  return make('a', { href: page.hrefOf(`/runs/${encodeURIComponent(id)}`) }, foreign(id, 'place'));
}

function renderFacts(page: Page, run: RunSummary, { totals }: Partial<RunDetails> = {}) {
  const { created_at: started, updated_at: updated, file, labels } = run;
  const notAll = (number: number) => number > 0 && make('small', {}, ` without ${counted(number, 'call')}`);
  const sums: Parameters<typeof factList>[0] =
    totals === undefined
      ? []
      : [
          ['Steps', count(totals.steps)],
          ['Tool calls', count(totals.tool_calls)],
          ['Model calls', count(totals.model_calls)],
          ['Scores', count(totals.scores)],
          ['Tokens in', [count(totals.input_tokens), notAll(totals.unmeasured_calls)]],
          ['Tokens out', count(totals.output_tokens)],
          [
            'Cost',
            totals.cost_usd === null ? null : [formatUsd(totals.cost_usd), notAll(totals.unpriced_calls)],
          ],
        ];
  return factList([
    ['Started', at(started)],
    ['Last change', at(updated)],
    ['Duration', lastedFor(page, run)],
    ...sums,
    ['File', file === null ? null : foreign(file, 'place')],
    ['Labels', labels === undefined ? null : renderLabels(run)],
  ]);
}

/** Why the run stands still or ended, and where it belongs. */
function renderState(
  page: Page,
  { error, suspended, waits_until: until, lacks_worker: lacks, parent, pendings }: RunSummary,
) {
  const rows = pendings.map(({ id, tool, step, message, reason, expires_at: expires }) => {
    const link = make('a', { href: page.hrefOf(`/inbox/${encodeURIComponent(id)}`) }, foreign(tool));
    return row(
      link,
      foreign(step, 'place'),
      foreign(message || reason),
      expires === null ? 'never' : at(expires),
    );
  });
  return [
    error !== null && renderFault(error),
    suspended && [
      note(`Suspended after ${counted(suspended.tries, 'failure')}. Next try: `, at(suspended.due_at)),
      renderFault(suspended.error),
    ],
    until !== undefined && note('Waits until ', at(until)),
    lacks && note('No running worker has the pipeline of this run.'),
    parent &&
      note('Started by step ', foreign(parent.step, 'place'), ' of run ', runLink(page, parent.run_id)),
    rows.length > 0 && [
      make('h2', {}, 'Waiting calls'),
      scrolled('Waiting calls', table('words', ['Call', 'Step', 'Why it waits', 'Expires'], rows)),
    ],
  ];
}

function renderChildren(page: Page, { children = [], children_cut: isCut }: Partial<RunDetails> = {}) {
  const rows = children.map(({ run_id: id, name, parent, status }) =>
    row([runLink(page, id), ' ', foreign(name)], foreign(parent?.step ?? '', 'place'), statusPill(status)),
  );
  const title = `${counted(rows.length, 'run')} that its steps started${isCut ? ', and more' : ''}`;
  return (
    rows.length > 0 &&
    fold(title, rows.length <= 10, scrolled('Runs of steps', table('', ['Run', 'Step', 'Status'], rows)))
  );
}

function renderEvents({ timeline = [] }: Partial<RunDetails> = {}) {
  const events = timeline.filter(({ what }) => !what.startsWith('step '));
  const rows = events.map(({ at: time, what, step, detail }) =>
    row(at(time), what, foreign(step ?? '', 'place'), foreign(detail)),
  );
  return fold(
    counted(rows.length, 'event'),
    false,
    scrolled('Events', table('', ['Time', 'Event', 'Step', 'Detail'], rows)),
  );
}
