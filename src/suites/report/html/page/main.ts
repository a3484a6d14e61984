import { button, make } from '../../../../base/page/dom.ts';
import { makeThemeSwitch } from '../../../../base/page/theme.ts';
import { type Data, readData } from './data.ts';
import { makeExplorer } from './list/explorer.ts';
import type { View } from './list/view.ts';
import { groupByRow } from './matrix/group.ts';
import { renderSummary } from './summary/summary.ts';

function showPage(page: Element, data: Data | null) {
  if (data === null) {
    page.replaceChildren(
      make('p', { class: 'notice' }, 'This report holds no data: the run ended before it began.'),
    );
    return;
  }
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
    data.served !== null && make('a', { class: 'link', href: data.served.home }, '‹ Runs'),
    makeThemeSwitch(),
    button('Keys', () => help.showModal(), { class: 'quiet', title: 'Keys (?)' }),
  );
  page.replaceChildren(
    make('main', {}, tools, renderSummary(data, choose), explorer.main),
    explorer.panel,
    help,
  );
  explorer.start();
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (act(event, explorer, help)) event.preventDefault();
  });
  coverMain(page);
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
    make('h2', { id: 'help-title' }, 'Keys'),
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
  if (isTyping(place)) return key === 'Enter' && leave(place, explorer);
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

// Runs last, after all constants are initialized.
const given = readData();
showPage(document.querySelector('#page') ?? document.body, given && groupByRow(given));
