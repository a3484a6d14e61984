import { readData } from './data.js';
import { button, make } from './dom.js';
import { makeExplorer } from './explorer.js';
import { makeHelp } from './help.js';
import { listenToKeys } from './keys.js';
import { renderSummary } from './summary.js';
import { makeThemeSwitch } from './theme.js';

/** @import { Data } from './data.js' */
/** @import { View } from './view.js' */

showPage(document.querySelector('#page') ?? document.body, readData());

/**
 * @param {Element} page
 * @param {Data | null} data
 */
function showPage(page, data) {
  if (data === null) {
    page.replaceChildren(
      make('p', { class: 'notice' }, 'This report holds no data: the run ended before it began.'),
    );
    return;
  }
  const explorer = makeExplorer(data);
  const help = makeHelp();
  const choose = (/** @type {Partial<View>} */ part) => {
    explorer.change({ query: '', tag: '', eval: '', min: null, max: null, ...part });
    explorer.main.scrollIntoView();
  };
  const tools = make(
    'div',
    { class: 'tools' },
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

/**
 * Makes the list inert while an open case covers it on a narrow screen.
 * @param {Element} page
 */
function coverMain(page) {
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
