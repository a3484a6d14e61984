import { foreign, make, table } from '../../../base/page/dom.ts';
import { counted, duration } from '../../../base/page/format.ts';
import type { ShownStatus } from '../../../contract/run.ts';
import type { Reply } from '../api.ts';
import { at, type Filter, makeFilteredList, periods } from '../list.ts';
import type { Page, Section } from '../section.ts';

type Run = Reply<'GET', '/runs'>['runs'][number];

const statuses: Readonly<Record<ShownStatus, string>> = {
  running: 'judged',
  queued: 'unscored',
  pending: 'unscored',
  suspended: 'unscored',
  waiting: 'unscored',
  completed: 'passed',
  failed: 'failed',
  denied: 'failed',
  cut_off: 'failed',
  cancelled: '',
};

export function statusPill(status: ShownStatus) {
  return make('span', { class: `pill ${statuses[status]}` }, status.replace('_', ' '));
}

const filters: readonly Filter[] = [
  { name: 'pipeline', label: 'Pipeline', placeholder: 'any' },
  {
    name: 'status',
    label: 'Status',
    choices: [['', 'any'], ...Object.keys(statuses).map((each) => [each, each.replace('_', ' ')] as const)],
  },
  { name: 'label', label: 'Labels', placeholder: 'team=desk, env=prod', isList: true },
  { name: 'since', label: 'Since', choices: [['', 'any time'], ...periods] },
];

export function openRunList(main: HTMLElement, page: Page): Section {
  const shown = table('runs', ['Run', ...columns], []);
  const list = makeFilteredList<Run>(main, {
    ...{ page, path: '/runs', filters, body: shown.tBodies[0] ?? shown },
    keyOf: ({ run_id: id }) => id,
    render: (run) => renderRun(page, run),
    empty: () => make('p', { class: 'nothing' }, 'No runs.'),
    load: async (query, signal) => {
      const { runs, next } = await page.api.get('/runs', { query, signal });
      return { items: runs, next };
    },
  });
  // The whole row opens the run; the link is for keyboards and screen readers.
  shown.addEventListener('click', ({ target }) => {
    const isText = target instanceof Element && target.closest('a') === null && String(getSelection()) === '';
    if (isText) target.closest('tr')?.querySelector('a')?.click();
  });
  main.replaceChildren(make('h1', {}, 'Runs'), list.bar, shown, list.foot);
  const stop = page.watch(['runs', 'pendings'], () => void list.refresh());
  return {
    ...list,
    keys: [
      ['j k', 'next and previous run'],
      ['Enter', 'open the run'],
      ['/', 'filter'],
    ],
    close: () => {
      stop();
      list.close();
    },
  };
}

const columns = ['Status', 'Started', 'Duration', 'Waits for', 'Labels'];

function renderRun(page: Page, run: Run) {
  const { run_id: id, name, status, created_at: started, pending } = run;
  const cells = [
    statusPill(status),
    at(started),
    lastedFor(page, run),
    pending === 0 ? null : counted(pending, 'call'),
    renderLabels(run),
  ];
  const link = make(
    'a',
    { href: page.hrefOf(`/runs/${encodeURIComponent(id)}`), 'data-row': true },
    foreign(name),
  );
  return make(
    'tr',
    { class: `item ${status}` },
    make('th', { scope: 'row' }, link, ' ', foreign(id, 'place')),
    cells.map((cell) => make('td', {}, cell)),
  );
}

/** Null for a run that stands still: what it waited for says nothing of its work. */
export function lastedFor(page: Page, run: Pick<Run, 'status' | 'created_at' | 'updated_at'>) {
  if (['queued', 'pending', 'suspended', 'waiting'].includes(run.status)) return null;
  const end = run.status === 'running' ? page.api.now() : Date.parse(run.updated_at);
  return duration(Math.max(0, end - Date.parse(run.created_at)));
}

export function renderLabels({ labels = {} }: Pick<Run, 'labels'>) {
  return Object.entries(labels).map(([name, value]) => [foreign(`${name}=${value}`, 'tag'), ' ']);
}
