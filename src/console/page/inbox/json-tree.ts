import { button, fold, make } from '../../../base/page/dom.ts';
import { count, counted } from '../../../base/page/format.ts';
import { renderText } from '../../../base/page/text.ts';

/** Longer strings get a box of their own. */
const INLINE = 120;

/** Members laid out at once. */
const SHOWN = 100;
const MORE = 1_000;

/** Nodes that are open at first. */
const OPEN = 200;

/** A value whose objects and lists unfold. Nothing is left out: what is long is shown on request. */
export function renderTree(value: unknown): HTMLElement {
  const tree = make('div', { class: 'tree' });
  const entries = entriesOf(value) ?? [];
  if (entries.length === 0) tree.append(renderNode(undefined, value, { left: OPEN }));
  else append(tree, entries, { open: { left: OPEN - entries.length } });
  return tree;
}

function renderNode(name: string | undefined, value: unknown, open: { left: number }): HTMLElement {
  const key = name !== undefined && make('span', { class: 'key' }, writeKey(name));
  const entries = entriesOf(value);
  if (entries === undefined) {
    const isLong = typeof value === 'string' && (value.length > INLINE || value.includes('\n'));
    if (!isLong) return make('div', { class: 'leaf' }, key, scalar(value));
    return make(
      'div',
      { class: 'leaf long' },
      key,
      make('small', {}, counted(value.length, 'character')),
      renderText(value, 'code'),
    );
  }
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return make('div', { class: 'leaf' }, key, make('code', {}, isList ? '[]' : '{}'));
  const isOpen = open.left >= entries.length;
  if (isOpen) open.left -= entries.length;
  const title = [key, make('small', {}, counted(entries.length, isList ? 'item' : 'member'))];
  const node = fold(title, isOpen);
  let isFilled = false;
  const fillNode = () => {
    if (isFilled || !node.open) return;
    isFilled = true;
    append(node, entries, { open });
  };
  node.addEventListener('toggle', fillNode);
  fillNode();
  return node;
}

function append(
  node: HTMLElement,
  entries: readonly (readonly [string, unknown])[],
  { open, from = 0, size = SHOWN }: { open: { left: number }; from?: number; size?: number },
) {
  const end = Math.min(entries.length, from + size);
  node.append(...entries.slice(from, end).map(([name, value]) => renderNode(name, value, open)));
  const rest = entries.length - end;
  if (rest === 0) return;
  const more = button(`Show ${count(Math.min(MORE, rest))} more of ${count(entries.length)}`, () => {
    more.remove();
    append(node, entries, { open: { left: 0 }, from: end, size: MORE });
  });
  node.append(more);
}

/** A plain key as it is, and any other as a JSON string, so that no key is invisible or looks like a plain one. */
export function writeKey(key: string): string {
  return /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Undefined for a value without members. A raw number is an object, too. */
export function entriesOf(value: unknown): (readonly [string, unknown])[] | undefined {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return undefined;
  if (Array.isArray(value)) return value.map((item: unknown, index) => [String(index), item]);
  return Object.entries(value);
}

function scalar(value: unknown) {
  return make(
    'code',
    { class: typeof value === 'string' ? 'string' : 'scalar' },
    JSON.stringify(value) ?? 'null',
  );
}
