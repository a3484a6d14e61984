import { make, note } from '../../../base/page/dom.ts';
import type { OpenSection, Page, Section } from '../section.ts';
import { openAudit } from './audit.ts';
import { openDecisions } from './decisions.ts';

const parts = {
  decisions: ['/guard', 'Decisions of hooks', openDecisions],
  audit: ['/guard/audit', 'Calls of the gateway', openAudit],
} as const;

/** How to switch a record on; the path of the docs is for a person to read. */
const advice = {
  decisions: [
    'The decisions of hooks are not recorded.',
    'decisions: {keep: 30d}',
    'docs/operate/decisions.md',
  ],
  audit: [
    'The gateway keeps no audit of its calls.',
    'gateway: {audit: {}}',
    'docs/operate/gateway-audit.md',
  ],
} as const;

export const openGuard: OpenSection = (main, page) => {
  let shown: Section | undefined;
  let place: string | undefined;
  return {
    show: async (address) => {
      const name = address.path[0] === 'audit' ? 'audit' : 'decisions';
      if (place !== name) {
        shown?.close();
        place = name;
        main.replaceChildren(make('h1', {}, 'Guard'), renderTabs(page, name));
        if (page.me.records[name]) shown = parts[name][2](main, page);
        else {
          shown = undefined;
          const [what, line, docs] = advice[name];
          main.append(
            make(
              'p',
              {},
              what,
              ' One line under ',
              make('code', {}, 'spec'),
              ' of the config turns this on:',
            ),
            make('pre', { class: 'code' }, line),
            note(`More in ${docs}.`),
          );
        }
      }
      await shown?.show(address);
    },
    key: (event) => shown?.key?.(event) ?? false,
    keys: [
      ['j k', 'next and previous entry'],
      ['Enter', 'open or close the entry'],
      ['/', 'filter'],
    ],
    close: () => shown?.close(),
  };
};

function renderTabs(page: Page, name: keyof typeof parts) {
  const links = Object.entries(parts).map(([each, [path, title]]) =>
    make('a', { href: page.hrefOf(path), 'aria-current': each === name && 'page' }, title),
  );
  return make('nav', { class: 'tabs', 'aria-label': 'Guard' }, links);
}
