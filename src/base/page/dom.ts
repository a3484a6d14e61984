import { invisibleCharacters } from '../text/escape-invisible.ts';

/**
 * Strings become text nodes, never markup, with marks in place of invisible characters. Lists are flattened; null, false
 * and undefined are skipped.
 */
export type Child = Node | string | null | false | undefined | readonly Child[];
type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>;

/** Skips attributes that are `false`. A function becomes an event listener. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

export function draw(
  name: keyof SVGElementTagNameMap,
  attributes: Attributes,
  ...children: readonly Child[]
) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill<Made extends Element>(element: Made, attributes: Attributes, children: readonly Child[]) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...flat(children));
  return element;
}

export function flat(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (child instanceof Node) return [child];
    return typeof child === 'string' ? markInvisible(child) : flat(child);
  });
}

/** Isolates foreign text in a `bdi` element, so that its writing direction does not affect the surroundings. */
export function foreign(text: string, kind: string = '') {
  return make('bdi', { class: kind === '' ? false : kind }, text);
}

/** A text with the code points of invisible, control and bidirectional characters in place of these. */
function markInvisible(text: string): (Node | string)[] {
  if (printable.test(text)) return [text];
  const found = [...text.matchAll(markedCharacters)];
  // Elements for all of them would exhaust the browser.
  if (found.length > MOST_MARKS)
    return [text.replaceAll(markedCharacters, (character) => ` ${codePointOf(character)} `)];
  const parts: (Node | string)[] = [];
  let from = 0;
  for (const { 0: character, index } of found) {
    parts.push(text.slice(from, index), make('span', { class: 'code-point' }, codePointOf(character)));
    from = index + character.length;
  }
  return [...parts, text.slice(from)];
}

const MOST_MARKS = 1_000;

function codePointOf(character: string) {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const printable = /^[\n\t\x20-\x7e]*$/;
const markedCharacters = new RegExp(String.raw`(?!\r\n)(?:${invisibleCharacters.source}|\p{Cs})`, 'gv');

export function button(label: Child, act: () => void, attributes: Attributes = {}) {
  return make('button', { type: 'button', click: () => act(), ...attributes }, label);
}

/** Text for screen readers only. */
export function unseen(text: string) {
  return make('span', { class: 'unseen' }, text);
}

export function note(...children: readonly Child[]) {
  return make('p', { class: 'note' }, ...children);
}

export function fold(title: Child, isOpen: boolean, ...children: readonly Child[]) {
  return make('details', { open: isOpen }, make('summary', {}, title), ...children);
}

/** Skips pairs with the value null. */
export function factList(pairs: readonly (readonly [name: string, value: Child])[], kind: string = 'facts') {
  const rows = pairs.map(
    ([name, value]) => value !== null && make('div', {}, make('dt', {}, name), make('dd', {}, value)),
  );
  return make('dl', { class: kind }, rows);
}

export function table(kind: string, titles: readonly (string | Node)[], rows: Child) {
  const heads = titles.map((title) =>
    typeof title === 'string' ? make('th', { scope: 'col' }, title) : title,
  );
  return make('table', { class: kind }, make('thead', {}, make('tr', {}, heads)), make('tbody', {}, rows));
}

export function row(title: Child, ...cells: readonly Child[]) {
  const rest = cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : make('td', {}, cell)));
  return make('tr', {}, make('th', { scope: 'row' }, title), rest);
}
