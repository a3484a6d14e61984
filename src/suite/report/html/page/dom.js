/** @typedef {Node | string} Child Text becomes a text node; nothing here ever reads markup. */
/** @typedef {Readonly<Record<string, string | number | boolean | ((event: Event) => void)>>} Attributes */

/**
 * Makes an element. An attribute that is `false` is left out, a function listens to the event of its name.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/**
 * Makes an element of a drawing.
 * @param {keyof SVGElementTagNameMap} name
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
export function draw(name, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * A text from data in a `bdi` element, so that its writing direction does not affect the text around it.
 * @param {string} text
 * @param {string} kind
 */
export function foreign(text, kind = '') {
  return make('bdi', { class: kind === '' ? false : kind }, text);
}

/**
 * A button with a label.
 * @param {string} label
 * @param {() => void} act
 * @param {Attributes} attributes
 */
export function button(label, act, attributes = {}) {
  return make('button', { type: 'button', click: () => act(), ...attributes }, label);
}

/**
 * Text for screen readers only.
 * @param {string} text
 */
export function unseen(text) {
  return make('span', { class: 'unseen' }, text);
}

/**
 * A part that can be folded.
 * @param {string | Node} title
 * @param {boolean} isOpen
 * @param {readonly Child[]} children
 */
export function fold(title, isOpen, ...children) {
  return make('details', { open: isOpen }, make('summary', {}, title), ...children);
}

/**
 * Names and values side by side; a value of null stands for nothing to say.
 * @param {readonly (readonly [name: string, value: Child | null])[]} pairs
 * @param {string} kind
 */
export function factList(pairs, kind = 'facts') {
  const rows = pairs.flatMap(([name, value]) =>
    value === null ? [] : [make('div', {}, make('dt', {}, name), make('dd', {}, value))],
  );
  return make('dl', { class: kind }, ...rows);
}
