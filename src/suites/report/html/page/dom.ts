/** Text becomes a text node; nothing here ever reads markup. */
type Child = Node | string;
type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>;

/** Makes an element. An attribute that is `false` is left out, a function listens to the event of its name. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Makes an element of a drawing. */
export function draw(
  name: keyof SVGElementTagNameMap,
  attributes: Attributes,
  ...children: readonly Child[]
) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(element: Element, attributes: Attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** A text from data in a `bdi` element, so that its writing direction does not affect the text around it. */
export function foreign(text: string, kind: string = '') {
  return make('bdi', { class: kind === '' ? false : kind }, text);
}

/** A button with a label. */
export function button(label: string, act: () => void, attributes: Attributes = {}) {
  return make('button', { type: 'button', click: () => act(), ...attributes }, label);
}

/** Text for screen readers only. */
export function unseen(text: string) {
  return make('span', { class: 'unseen' }, text);
}

/** A part that can be folded. */
export function fold(title: string | Node, isOpen: boolean, ...children: readonly Child[]) {
  return make('details', { open: isOpen }, make('summary', {}, title), ...children);
}

/** Names and values side by side; a value of null stands for nothing to say. */
export function factList(
  pairs: readonly (readonly [name: string, value: Child | null])[],
  kind: string = 'facts',
) {
  const rows = pairs.flatMap(([name, value]) =>
    value === null ? [] : [make('div', {}, make('dt', {}, name), make('dd', {}, value))],
  );
  return make('dl', { class: kind }, ...rows);
}
