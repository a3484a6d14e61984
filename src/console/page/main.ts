import { button, make } from '../../base/page/dom.ts';
import { count, counted } from '../../base/page/format.ts';
import { forgetKey, keepKey, readKey } from '../../base/page/key.ts';
import { makeThemeSwitch } from '../../base/page/theme.ts';
import { ApiError, describe, type Me, openApi, watchChanges } from './api.ts';
import { openEvals } from './evals/evals.ts';
import { openGuard } from './guard/guard.ts';
import { openInbox, prepareInbox } from './inbox/inbox.ts';
import { openRuns } from './runs/runs.ts';
import type { Address, OpenSection, Page, Section } from './section.ts';

const sections: Readonly<Record<Me['sections'][number], readonly [title: string, open: OpenSection]>> = {
  inbox: ['Inbox', openInbox],
  runs: ['Runs', openRuns],
  evals: ['Evals', openEvals],
  guard: ['Guard', openGuard],
};

const root = document.querySelector('#page') ?? document.body;
/** What precedes `/console`: a proxy may add a path. */
const [prefix = ''] = location.pathname.split(/\/console(?=\/|$)/, 1);
const base = `${prefix}/console`;
const theme = makeThemeSwitch();
// Browsers resolve it again after each change of the address.
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
icon?.setAttribute('href', icon.href);

async function start() {
  const key = readKey();
  if (key === null) return askForKey();
  const leave = (why: string) => {
    forgetKey();
    const unsent = shell.close();
    askForKey(unsent === 0 ? why : `${why} ${counted(unsent, 'decision')} not sent.`.trim());
  };
  const shell = makeShell(() => leave(''));
  const api = openApi(`${prefix}/api/v1`, key, () => {
    if (!shell.isClosed()) leave('The server does not accept this key, or no longer.');
  });
  try {
    shell.open(await api.get('/me'), api);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
    root.replaceChildren(
      make(
        'main',
        { class: 'entry' },
        make('h1', {}, 'The console cannot be opened'),
        make('p', { role: 'alert' }, describe(error)),
        button('Try again', () => void start(), { class: 'primary' }),
      ),
    );
  }
}

function askForKey(problem = '') {
  document.title = 'Signalbox';
  const field = make('input', {
    ...{ id: 'key', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false' },
    // A header takes no other characters.
    pattern: String.raw` *[\x21-\x7e]+ *`,
    'aria-describedby': 'key-note',
  });
  const submit = (event: Event) => {
    event.preventDefault();
    keepKey(field.value.trim());
    void start();
  };
  root.replaceChildren(
    make(
      'main',
      { class: 'entry' },
      make('h1', {}, 'Signalbox'),
      problem !== '' && make('p', { role: 'alert', class: 'bad' }, problem),
      make(
        'form',
        { submit },
        // Password managers look for one.
        make('input', { type: 'text', autocomplete: 'username', value: 'signalbox', hidden: true }),
        make('label', { for: 'key' }, 'Key'),
        field,
        make('button', { type: 'submit', class: 'primary' }, 'Open the console'),
      ),
      make(
        'p',
        { class: 'note', id: 'key-note' },
        [
          'An administrator makes a key with ',
          make('code', {}, 'signalbox keys create NAME --role approver'),
          '. ',
        ],
        'Without keys, use the address that the console printed when it started.',
      ),
    ),
  );
  field.focus();
}

function makeShell(signOut: () => void) {
  let section: { readonly name: string; readonly opened: Section } | undefined;
  const ended = new AbortController();
  const { signal } = ended;
  let drop = () => 0;

  const open = (me: Me, api: Page['api']) => {
    const main = make('main', { id: 'main', tabindex: -1 });
    const broken = make('span', { class: 'broken', role: 'status' });
    const toasts = makeToasts();
    const help = makeHelp(() => section?.opened.keys ?? []);
    const kinds = [
      ...(me.scopes.includes('pendings:read') ? (['pendings'] as const) : []),
      ...(me.scopes.includes('runs:read') ? (['runs', 'suites'] as const) : []),
    ];
    const watch = watchChanges({ api, kinds, signal }, (isConnected) => {
      broken.textContent = isConnected ? '' : 'No live updates: the connection was lost. Trying again …';
    });
    const go: Page['go'] = (path, { replace = false } = {}) => {
      history[replace ? 'replaceState' : 'pushState'](null, '', `${base}${path}`);
      show();
    };
    const page: Page = { api, me, go, hrefOf: (path) => `${base}${path}`, watch, say: toasts.say };
    const links = new Map(
      me.sections.map((name) => [name, make('a', { href: page.hrefOf(`/${name}`) }, sections[name][0])]),
    );
    root.replaceChildren(
      make('a', { class: 'skip', href: '#main' }, 'Skip to the content'),
      make(
        'header',
        { class: 'bar' },
        make(
          'span',
          { class: 'brand' },
          'Signalbox',
          me.runtime !== null && make('bdi', {}, me.runtime.name),
        ),
        make('nav', { 'aria-label': 'Sections' }, [...links.values()]),
        broken,
        make('span', { class: 'who', title: `Key ${me.id}` }, make('bdi', {}, me.name)),
        theme,
        button('Shortcuts', () => help.show(), { class: 'quiet', title: 'Shortcuts (?)' }),
        button('Sign out', signOut, { class: 'quiet' }),
      ),
      main,
      toasts.element,
      help.element,
    );

    const show = () => {
      const [name = '', ...path] = readPath();
      const known = me.sections.find((each) => each === name);
      if (known === undefined) {
        const [first] = me.sections;
        if (name === '' && first !== undefined) return go(`/${first}${location.search}`, { replace: true });
        close();
        const why =
          first === undefined
            ? 'This key has no access to the console.'
            : 'There is no such page in this console.';
        main.replaceChildren(make('h1', {}, 'Not found'), make('p', {}, why));
        return title(main);
      }
      for (const [each, link] of links) {
        if (each === known) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
      }
      if (section?.name !== known) {
        close();
        main.className = known;
        section = { name: known, opened: sections[known][1](main, page) };
      }
      const address: Address = { path, query: new URLSearchParams(location.search) };
      void Promise.resolve(section.opened.show(address))
        .catch((error: unknown) => page.say(describe(error), 'error'))
        .finally(() => title(main));
    };
    const close = () => {
      section?.opened.close();
      section = undefined;
    };

    const inbox = links.get('inbox');
    if (inbox !== undefined) {
      const badge = make('span', { class: 'count' });
      inbox.append(' ', badge);
      const update = async () => {
        const { by_status: counts } = await api.get('/pendings/counts');
        const open = counts['open'] ?? 0;
        badge.textContent = open === 0 ? '' : count(open);
      };
      const refresh = () => void update().catch(() => {});
      refresh();
      watch(['pendings'], refresh);
      drop = prepareInbox(page).outbox.drop;
    }
    window.addEventListener('popstate', show, { signal });
    document.addEventListener('click', (event) => follow(event, go), { signal });
    document.addEventListener(
      'keydown',
      (event) => {
        const { target, key } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (document.querySelector('dialog[open]') !== null) return;
        // A key that is held down decides once.
        if (event.repeat && key !== 'j' && key !== 'k') return;
        const isTyping =
          target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), select, textarea');
        if (isTyping && key === 'Escape') target.blur();
        if (isTyping) return;
        if (key === '?') help.show();
        else if (section?.opened.key?.(event) !== true) return;
        event.preventDefault();
      },
      { signal },
    );
    show();
  };
  return {
    open,
    isClosed: () => signal.aborted,
    /** Returns how many decisions were held, and are not sent. */
    close() {
      ended.abort();
      section?.opened.close();
      return drop();
    },
  };
}

function title(main: HTMLElement) {
  const heading = main.querySelector('h1')?.textContent ?? '';
  document.title = heading === '' ? 'Signalbox' : `${heading} – Signalbox`;
}

/** The decoded parts of the path after `/console`. */
function readPath(): string[] {
  const parts = location.pathname
    .slice(base.length)
    .split('/')
    .filter((part) => part !== '');
  return parts.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/** Opens plain clicks on links of the console without loading the page again. */
function follow(event: MouseEvent, go: Page['go']) {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return;
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || !`${link.pathname}/`.startsWith(`${base}/`) || link.hash !== '')
    return;
  const path = link.pathname.slice(base.length);
  // The report of a run is a page of its own.
  if (/^\/evals\/(?!compare$)[^/]+$/.test(path)) return;
  event.preventDefault();
  go(`${path}${link.search}`);
}

function makeToasts() {
  const element = make('div', { class: 'toasts', role: 'region', 'aria-label': 'Messages' });
  const live = make('div', { 'aria-live': 'polite' });
  element.append(live);
  const say: Page['say'] = (message, kind = 'info') => {
    const toast = make(
      'div',
      { class: `toast ${kind}`, role: kind === 'error' && 'alert' },
      make('span', {}, message),
    );
    const close = () => toast.remove();
    if (kind === 'error') toast.append(button('Close', close, { class: 'quiet' }));
    else setTimeout(close, TOAST_MS);
    live.append(toast);
    while (live.childElementCount > MOST_TOASTS) live.firstElementChild?.remove();
  };
  return { element, say };
}

const TOAST_MS = 6_000;
const MOST_TOASTS = 4;

function makeHelp(keysOf: () => NonNullable<Section['keys']>) {
  const list = make('dl');
  const element = make(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    make('h2', { id: 'help-title' }, 'Shortcuts'),
    list,
    button('Close', () => element.close()),
  ) as HTMLDialogElement;
  const show = () => {
    const rows = [...keysOf(), ['?', 'this help'] as const].map(([key, what]) =>
      make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, what)),
    );
    list.replaceChildren(...rows);
    element.showModal();
  };
  return { element, show };
}

void start();
