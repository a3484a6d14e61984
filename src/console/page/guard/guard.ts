import { make } from '../../../base/page/dom.ts';
import type { OpenSection, Page } from '../section.ts';
import { openAudit } from './audit.ts';
import { openDecisions } from './decisions.ts';

const parts = {
  decisions: ['/guard', 'Decisions of hooks', openDecisions],
  audit: ['/guard/audit', 'Calls of the gateway', openAudit],
} as const;

/** The line under `spec` of the config that turns a record on. */
const advice = {
  decisions: ['The decisions of hooks are not recorded.', 'decisions: {keep: 30d}'],
  audit: ['The gateway keeps no audit of its calls.', 'gateway: {audit: {}}'],
} as const;

export const openGuard: OpenSection = (main, page) => {
  let shown: ReturnType<typeof openDecisions> | undefined;
  let place: keyof typeof parts | undefined;
  // Neither decisions nor the audit say when they change.
  const timer = setInterval(() => {
    if (!document.hidden) void shown?.refresh();
  }, EVERY_MS);
  return {
    show: async (address) => {
      const name = address.path[0] === 'audit' ? 'audit' : 'decisions';
      if (place !== name) {
        shown?.close();
        place = name;
        main.replaceChildren(make('h1', {}, 'Guard'), renderTabs(page, name));
        shown = page.me.records[name] ? parts[name][2](main, page) : undefined;
        if (shown === undefined) {
          const [what, line] = advice[name];
          main.append(make('p', {}, `${what} This line under spec of the config turns it on:`));
          main.append(make('pre', { class: 'code' }, line));
        }
      }
      await shown?.show(address);
    },
    key: (event) => shown?.key(event) ?? false,
    keys: [
      ['j k', 'next and previous entry'],
      ['Enter', 'open or close the entry'],
      ['/', 'filter'],
    ],
    close: () => {
      clearInterval(timer);
      shown?.close();
    },
  };
};

const EVERY_MS = 10_000;

function renderTabs(page: Page, name: keyof typeof parts) {
  const links = Object.entries(parts).map(([each, [path, title]]) =>
    make('a', { href: page.hrefOf(path), 'aria-current': each === name && 'page' }, title),
  );
  return make('nav', { class: 'tabs', 'aria-label': 'Guard' }, links);
}
