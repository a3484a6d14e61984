import { button, make, note } from '../../../../base/page/dom.ts';
import { makeThemeSwitch } from '../../../../base/page/theme.ts';
import { type Data, type Entry, linesOf, makeReader } from './data.ts';
import { makeExplorer } from './list/explorer.ts';
import type { View } from './list/view.ts';
import { groupByRow } from './matrix/group.ts';
import { consoleAddress, loadLines, loadSections } from './server.ts';
import { renderSummary } from './summary/summary.ts';

function showPage(page: Element, data: Data) {
  document.documentElement.classList.toggle('is-matrix', data.header.variants !== undefined);
  const explorer = makeExplorer(data);
  const help = makeHelp();
  const choose = (part: Partial<View>) => {
    explorer.change({ query: '', tag: '', eval: '', min: null, max: null, ...part });
    explorer.main.scrollIntoView();
  };
  const tools = make(
    'div',
    { class: 'tools' },
    makeThemeSwitch(),
    button('Shortcuts', () => help.showModal(), { class: 'quiet', title: 'Shortcuts (?)' }),
  );
  let summary = renderSummary(data, choose);
  const main = make('main', {}, tools, data.served !== null && makeNav(), summary, explorer.main);
  page.replaceChildren(main, explorer.panel, help);
  explorer.start();
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (act(event, explorer, help)) event.preventDefault();
  });
  coverMain(page);
  return {
    grow: () => explorer.grow(),
    showSummary() {
      const next = renderSummary(data, choose);
      summary.replaceWith(next);
      summary = next;
    },
    sayBroken: (failed: string) => explorer.main.before(makeBroken(`The cases below are not all. ${failed}`)),
  };
}

/** Links to the lists of the console. */
function makeNav() {
  const linkTo = (section: string, words: string) =>
    make('a', { class: 'link', href: `${consoleAddress}/${section}` }, words);
  const nav = make('nav', { class: 'sections', 'aria-label': 'Console' }, linkTo('evals', '‹ Evals'));
  void loadSections().then((sections) => {
    const others = sections.filter((section) => section !== 'evals');
    nav.append(...others.map((name) => linkTo(name, name.charAt(0).toUpperCase() + name.slice(1))));
  });
  return nav;
}

function makeBroken(words: string) {
  const again = button('Load again', () => location.reload());
  return make('div', { class: 'notice', role: 'alert' }, make('p', {}, words), again);
}

/** Shows the cases that are there while the rest is loaded. */
async function showServed(page: Element) {
  page.replaceChildren(make('main', {}, note('Loading …')));
  const reader = makeReader(true);
  const now: { view?: ReturnType<typeof showPage>; report?: Data['report']; entries?: readonly Entry[] } = {};
  let due = 0;
  const update = (data: Data) => {
    const began = performance.now();
    now.entries ??= data.entries;
    data.entries = groupByRow(data.header, now.entries, now.view === undefined ? [] : data.entries);
    if (now.view === undefined) {
      document.title = `${data.header.suite}: eval report`;
      now.view = showPage(page, data);
    } else {
      if (data.report !== now.report || (data.report === null && !data.isLoading)) now.view.showSummary();
      now.view.grow();
    }
    now.report = data.report;
    // Rendering more rows takes longer; most of the time is left to reading.
    const end = performance.now();
    due = end + Math.max(100, 4 * (end - began));
  };
  const onPart = () => {
    const data = reader.data();
    if (data?.isLoading === true && performance.now() >= due) update(data);
  };
  const sent = await loadLines(reader.take, { onPart });
  const data = reader.data();
  if (data !== null) {
    data.isLoading = false;
    update(data);
  }
  if (!('failed' in sent)) return;
  if (now.view === undefined) page.replaceChildren(make('main', {}, makeNav(), makeBroken(sent.failed)));
  else now.view.sayBroken(sent.failed);
}

/** Makes the list inert while an open case covers it on a narrow screen. */
function coverMain(page: Element) {
  const narrow = matchMedia('(max-width: 899px)');
  const main = page.querySelector('main');
  const update = () => {
    main?.toggleAttribute(
      'inert',
      narrow.matches && document.documentElement.classList.contains('has-panel'),
    );
  };
  narrow.addEventListener('change', update);
  new MutationObserver(update).observe(document.documentElement, { attributeFilter: ['class'] });
  update();
}

function makeHelp() {
  const rows = keys.map(([key, what]) =>
    make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, what)),
  );
  const dialog: HTMLDialogElement = make(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    make('h2', { id: 'help-title' }, 'Shortcuts'),
    make('dl', {}, ...rows),
    button('Close', () => dialog.close()),
  );
  return dialog;
}

const keys: readonly (readonly [key: string, what: string])[] = [
  ['/', 'search'],
  ['j k', 'next and previous case; also the arrows, in the list'],
  ['Enter', 'open the case'],
  ['Escape', 'leave the search, close the case'],
  ['?', 'this help'],
];

interface Explorer {
  step: (by: number) => void;
  openActive: () => void;
  focusSearch: () => void;
  focusList: () => void;
  isOpen: () => boolean;
  close: () => void;
}

function act({ key, target }: KeyboardEvent, explorer: Explorer, help: HTMLDialogElement): boolean {
  const place = target instanceof Element ? target : document.body;
  if (key === 'Escape') return leave(place, explorer);
  if (isTyping(place)) return key === 'Enter' && place.closest('form') === null && leave(place, explorer);
  switch (key) {
    case '/':
      explorer.focusSearch();
      return true;
    case '?':
      help.showModal();
      return true;
    case 'j':
    case 'k':
    case 'ArrowDown':
    case 'ArrowUp':
      // Outside the list, arrow keys scroll.
      if (key.length > 1 && place.closest('.list') === null) return false;
      explorer.step(key === 'j' || key === 'ArrowDown' ? 1 : -1);
      return true;
    case 'Enter':
      if (place.closest('button, summary, a, select') !== null) return false;
      explorer.openActive();
      return true;
    default:
      return false;
  }
}

function leave(place: Element, explorer: Explorer) {
  if (isTyping(place)) explorer.focusList();
  else if (explorer.isOpen()) explorer.close();
  else return false;
  return true;
}

function isTyping(place: Element) {
  return place.matches('input, select, textarea');
}

function showFile(page: Element, blocks: Iterable<Element>) {
  const reader = makeReader(false);
  for (const line of linesOf(blocks)) reader.take(line);
  const data = reader.data();
  if (data === null) {
    const words = 'This report holds no data: the run ended before it began.';
    page.replaceChildren(make('p', { class: 'notice' }, words));
    return;
  }
  data.entries = groupByRow(data.header, data.entries);
  showPage(page, data);
}

// Runs last, after all constants are initialized.
const root = document.querySelector('#page') ?? document.body;
const blocks = document.querySelectorAll('script[data-block]');
if (blocks.length > 0) showFile(root, blocks);
else void showServed(root);
