import { make } from '../dom.ts';

/** Many rows of which only those in sight exist; the page itself scrolls. */
export interface List<Item> {
  element: HTMLElement;
  show: (items: readonly Item[], active: number) => void;
  /** Marks a row and brings it into sight; -1 for none. */
  activate: (active: number) => void;
  /** Looks anew which rows are in sight. */
  refresh: () => void;
  /** Makes that many rows without regard to sight; the result undoes it. */
  unroll: (most: number) => () => void;
}

/** Rows beyond both ends of the window, so that a short scroll finds them there. */
const MARGIN = 8;

/** Browsers bound the height of an element; rows beyond are found by filtering. */
const MOST_ROWS = 200_000;

export function makeList<Item>(
  label: string,
  renderRow: (item: Item, index: number) => HTMLElement,
): List<Item> {
  const element = make('div', {
    class: 'list',
    role: 'listbox',
    tabindex: 0,
    'aria-label': label,
    id: 'cases',
  });
  let items: readonly Item[] = [];
  const shown: Map<number, HTMLElement> = new Map();
  let active = -1;
  let height = 1;

  const place = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    const row = renderRow(item, index);
    row.id = `row-${index}`;
    row.setAttribute('aria-posinset', String(index + 1));
    row.setAttribute('aria-setsize', String(items.length));
    row.style.transform = `translateY(${index * height}px)`;
    shown.set(index, row);
    element.append(row);
  };
  const keep = (first: number, last: number) => {
    for (const [index, row] of shown) {
      if (index >= first && index <= last) continue;
      row.remove();
      shown.delete(index);
    }
    for (let index = first; index <= last; index += 1) if (!shown.has(index)) place(index);
    mark();
  };
  const mark = () => {
    for (const [index, row] of shown) row.setAttribute('aria-selected', String(index === active));
    if (shown.has(active)) element.setAttribute('aria-activedescendant', `row-${active}`);
    else element.removeAttribute('aria-activedescendant');
  };
  const refresh = () => {
    const top = element.getBoundingClientRect().top;
    const first = Math.floor(-top / height) - MARGIN;
    const last = Math.ceil((window.innerHeight - top) / height) + MARGIN;
    keep(Math.max(0, first), Math.min(items.length - 1, last));
  };
  const measure = () => {
    height = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 64;
    element.style.height = `${items.length * height}px`;
  };
  const rebuild = () => {
    keep(0, -1);
    measure();
    refresh();
  };

  window.addEventListener('scroll', () => refresh(), { passive: true });
  window.addEventListener('resize', () => rebuild());
  return {
    element,
    show(newItems, newActive) {
      items = newItems.slice(0, MOST_ROWS);
      active = newActive;
      rebuild();
    },
    activate(newActive) {
      active = newActive;
      if (active >= 0) scrollTo(element, active * height, height);
      refresh();
    },
    refresh,
    unroll(most) {
      keep(0, Math.min(items.length, most) - 1);
      return rebuild;
    },
  };
}

/** Brings a part of an element into sight, below what sticks to the top of the page. */
function scrollTo(element: HTMLElement, offset: number, height: number) {
  const covered = document.querySelector('.toolbar')?.getBoundingClientRect().height ?? 0;
  const top = element.getBoundingClientRect().top + offset;
  if (top < covered) window.scrollBy({ top: top - covered - height });
  else if (top + height > window.innerHeight) window.scrollBy({ top: top + 2 * height - window.innerHeight });
}
