import { make } from '../../../base/page/dom.ts';
import { count, duration } from '../../../base/page/format.ts';
import type { Call } from '../api.ts';
import type { Page } from '../section.ts';
import type { Outbox } from './outbox.ts';

/** Rows above and below the visible ones, for short scrolls. */
const MARGIN = 6;

interface Options {
  readonly page: Page;
  readonly outbox: Outbox;
  readonly hrefOf: (id: string) => string;
  readonly isSelected: (id: string) => boolean;
  readonly onSelect: (call: Call) => void;
  /** The end of the rows is near. */
  readonly onEnd: () => void;
}

/** A list of which only visible rows are laid out. The active row stays, since it may have the focus. */
export function makeList({ page, outbox, hrefOf, isSelected, onSelect, onEnd }: Options) {
  const rows = make('ul', { 'aria-label': 'Calls' });
  const element = make('div', { class: 'rows' }, rows);
  let calls: readonly Call[] = [];
  let active = '';
  let height = 76;
  const shown = new Map<number, HTMLElement>();
  const indexOf = (id: string) => calls.findIndex((call) => call.id === id);

  const place = (index: number) => {
    const call = calls[index];
    if (call === undefined) return;
    const row = renderRow(call);
    row.setAttribute('aria-posinset', String(index + 1));
    row.setAttribute('aria-setsize', String(calls.length));
    row.style.transform = `translateY(${index * height}px)`;
    shown.set(index, row);
    rows.append(row);
  };
  const renderRow = (call: Call) => {
    const tabindex = call.id === (active === '' ? calls[0]?.id : active) ? 0 : -1;
    const { id, tool, message, reason, run, status } = call;
    const held = outbox.heldFor(id);
    const box = make('input', {
      ...{ type: 'checkbox', 'aria-label': `Select ${tool}`, change: () => onSelect(call) },
      tabindex,
    });
    box.checked = isSelected(id);
    const state = held === undefined ? stateOf(call) : holding[held.decision];
    return make(
      'li',
      { class: `row ${held !== undefined || status !== 'open' ? 'done' : ''}`, 'data-id': id },
      box,
      make(
        'a',
        { href: hrefOf(id), 'aria-current': id === active && 'true', tabindex },
        make(
          'span',
          { class: 'line' },
          make('bdi', { class: 'tool' }, tool === '@ask' ? 'Question' : tool),
          state !== '' &&
            make('span', { class: `flag ${held === undefined ? stateKind(call) : 'judged'}` }, state),
          make('span', { class: 'age', 'data-since': call.created_at }),
        ),
        make('span', { class: 'line why' }, make('bdi', {}, (message || reason).slice(0, 300))),
        make(
          'span',
          { class: 'line sub' },
          make('bdi', {}, askerOf(call)),
          run.name !== tool && make('bdi', {}, run.name),
          status === 'open' &&
            call.expires_at !== null &&
            make('span', { class: 'age', 'data-until': call.expires_at }),
        ),
      ),
    );
  };
  const keep = (first: number, last: number) => {
    const at = indexOf(active);
    for (const [index, row] of shown) {
      if ((index >= first && index <= last) || index === at) continue;
      row.remove();
      shown.delete(index);
    }
    for (let index = first; index <= last; index += 1) if (!shown.has(index)) place(index);
  };
  const refresh = () => {
    const first = Math.floor(element.scrollTop / height) - MARGIN;
    const last = Math.ceil((element.scrollTop + element.clientHeight) / height) + MARGIN;
    keep(Math.max(0, first), Math.min(calls.length - 1, last));
    tick();
    if (last >= calls.length - 1) onEnd();
  };
  const rebuild = () => {
    const focused = document.activeElement?.closest('.rows [data-id]');
    const name = document.activeElement?.localName ?? '';
    for (const row of shown.values()) row.remove();
    shown.clear();
    height = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || height;
    rows.style.height = `${calls.length * height}px`;
    refresh();
    if (focused instanceof HTMLElement) focusRow(focused.dataset['id'] ?? '', name);
  };
  const focusRow = (id: string, name: string) => {
    const index = indexOf(id);
    if (index >= 0 && !shown.has(index)) place(index);
    const row = shown.get(index);
    if (row === undefined) return;
    for (const part of row.querySelectorAll<HTMLElement>('a, input'))
      if (part.localName === name) part.focus({ preventScroll: true });
  };
  const tick = () => {
    const now = page.api.now();
    for (const part of rows.querySelectorAll<HTMLElement>('[data-since]'))
      part.textContent = ageOf(now - Date.parse(part.dataset['since'] ?? ''));
    for (const part of rows.querySelectorAll<HTMLElement>('[data-until]')) {
      const left = Date.parse(part.dataset['until'] ?? '') - now;
      part.textContent = left <= 0 ? 'expired' : `expires in ${ageOf(left)}`;
      part.classList.toggle('soon', left < SOON_MS);
    }
  };
  const timer = window.setInterval(() => !document.hidden && tick(), 1_000);
  element.addEventListener('scroll', refresh, { passive: true });
  const resized = new ResizeObserver(() => rebuild());
  resized.observe(element);

  return {
    element,
    show(newCalls: readonly Call[], newActive: string) {
      calls = newCalls;
      active = newActive;
      rebuild();
    },
    /** Scrolls to the active row and focuses it. */
    reveal() {
      const top = indexOf(active) * height;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + height > element.scrollTop + element.clientHeight)
        element.scrollTop = top + height - element.clientHeight;
      refresh();
      focusRow(active, 'a');
    },
    /** The indexes of the first and last row in view. */
    inView: () =>
      [
        Math.floor(element.scrollTop / height),
        Math.ceil((element.scrollTop + element.clientHeight) / height),
      ] as const,
    close() {
      clearInterval(timer);
      resized.disconnect();
    },
  };
}

const SOON_MS = 10 * 60_000;
const holding = { approve: 'Approving', reject: 'Rejecting', respond: 'Answering' };

/** '' for an open call. */
export function stateOf({ status, use }: Call): string {
  if (status === 'open') return '';
  if (status !== 'approved' && status !== 'responded') return status;
  const decided = status === 'approved' ? 'approved' : 'answered';
  if (use === 'not_used') return `${decided}, not used`;
  return use === 'expired' ? `${decided}, expired` : decided;
}

export function stateKind({ status, use }: Call): string {
  if (status === 'rejected' || status === 'cancelled') return 'refused';
  return (status === 'approved' || status === 'responded') && use === 'used' ? 'used' : '';
}

export function askerOf({ caller, run }: Call): string {
  if (caller === null) return run.kind === 'tool' ? 'direct call' : 'pipeline';
  return String('principal' in caller ? caller.principal : caller.agent);
}

export function ageOf(ms: number): string {
  if (ms < 1_000) return 'now';
  if (ms < 86_400_000)
    return duration(ms)
      .replace(/ 0 (s|min)$/, '')
      .replace(/\.\d s$/, ' s');
  return `${count(Math.floor(ms / 86_400_000))} d`;
}
