import type { Data } from './data.ts';
import { readData } from './data.ts';
import { button, make } from './dom.ts';
import { makeHelp } from './help.ts';
import { makeExplorer } from './list/explorer.ts';
import { listenToKeys } from './list/keys.ts';
import type { View } from './list/view.ts';
import { groupByRow } from './matrix/group.ts';
import { renderSummary } from './summary/summary.ts';
import { makeThemeSwitch } from './theme.ts';

const given = readData();
showPage(document.querySelector('#page') ?? document.body, given && groupByRow(given));

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
    ...(data.served === null ? [] : [make('a', { class: 'link', href: data.served.home }, '‹ Runs')]),
    makeThemeSwitch(),
    button('Keys', () => help.showModal(), { class: 'quiet', title: 'Keys (?)' }),
  );
  page.replaceChildren(
    make('main', {}, tools, renderSummary(data, choose), explorer.main),
    explorer.panel,
    help,
  );
  explorer.start();
  listenToKeys(explorer, help);
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
