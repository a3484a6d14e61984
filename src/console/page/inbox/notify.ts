import { button } from '../../../base/page/dom.ts';
import { keep, readKept } from '../../../base/page/theme.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import type { Page } from '../section.ts';

const storageKey = 'signalbox-notify';

/**
 * A button that turns notifications of new calls on and off. Undefined if the browser has none. Notifications name the
 * tool and show the message, never arguments.
 */
export function makeNotifier(page: Page) {
  if (typeof Notification === 'undefined') return undefined;
  let stop: (() => void) | undefined;
  const toggle = button('Notify me', () => void change(stop === undefined), { class: 'quiet' });
  const change = async (wanted: boolean) => {
    stop?.();
    stop = undefined;
    if (wanted && (await Notification.requestPermission()) === 'granted') stop = start(page);
    else if (wanted) page.say('The browser does not allow notifications of this page.', 'error');
    keep(storageKey, stop === undefined ? 'off' : 'on');
    show();
  };
  const show = () => toggle.setAttribute('aria-pressed', String(stop !== undefined));
  if (readKept(storageKey) === 'on' && Notification.permission === 'granted') stop = start(page);
  show();
  return toggle;
}

function start({ api, watch, go }: Page) {
  let since = new Date(api.now()).toISOString();
  const known = new Set<string>();
  const update = async () => {
    const { pending } = await api.get('/pendings', { query: { since, mine: true, limit: 1_000 } });
    since = pending.at(-1)?.created_at ?? since;
    const fresh = pending.filter(({ id }) => !known.has(id));
    for (const { id, tool, message, reason } of fresh) {
      known.add(id);
      if (fresh.length > MOST) continue;
      const note = new Notification(escapeInvisibleLine(tool), {
        body: escapeInvisibleLine(message || reason).slice(0, 200),
        tag: id,
      });
      note.addEventListener('click', () => {
        window.focus();
        note.close();
        go(`/inbox/${encodeURIComponent(id)}`);
      });
    }
    if (fresh.length > MOST) new Notification(`${fresh.length} calls wait`);
  };
  return watch(['pendings'], () => void update().catch(() => {}), { background: true });
}

/** More at once are counted in one. */
const MOST = 5;
