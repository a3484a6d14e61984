import { diffLines, diffWordsWithSpace } from 'diff';
import { fold, make } from '../dom.ts';
import { count } from '../format.ts';
import { toPrettyJson } from './json-view.ts';
import { renderText } from './long-text.ts';

/** Params that say what the text should be, by what the built-in evals and many others call them. */
const wholes = ['expected', 'truth', 'reference', 'target', 'answer', 'gold'];

/** Params whose texts should, or should not, stand somewhere in the text. */
const parts = ['patterns', 'contains', 'words', 'fields'];

/** Characters of both texts beyond which comparing would make one wait. */
const LARGEST = 100_000;

/** What the eval was told to expect beside the text that it judged. */
export function renderComparisons(
  params: Readonly<Record<string, unknown>>,
  content: string,
  isOpen: boolean,
) {
  const given = Object.entries(params);
  const whole = given
    .filter(([name, value]) => wholes.includes(name) && value !== null)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).slice(0, 5).map((one) => [name, one]),
    )
    .map(([name, value]) => fold(`Compared with ${name}`, isOpen, ...compareWhole(value, content)));
  const sought = given
    .filter(([name]) => parts.includes(name))
    .flatMap(([name, value]) => {
      const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
      return texts.length === 0 ? [] : [fold(`Looked for ${name}`, isOpen, renderSought(texts, content))];
    });
  return [...whole, ...sought];
}

function compareWhole(value: unknown, content: string) {
  const expected = typeof value === 'string' ? value : toPrettyJson(value);
  const actual = typeof value === 'object' ? prettyIfJson(content) : content;
  if (expected === actual) return [make('p', { class: 'note' }, 'They are the same.')];
  if (expected.length * 4 < actual.length) return compareShort(expected, actual);
  const changes = expected.length + actual.length > LARGEST ? undefined : findChanges(expected, actual);
  return changes === undefined ? besideEachOther(expected, actual) : [renderLegend(), renderChanges(changes)];
}

/** A short answer would drown among the words of a long text: it is shown where it stands in it. */
function compareShort(expected: string, actual: string) {
  return [
    make('p', { class: 'label' }, 'Expected'),
    renderText(expected, 'code'),
    make('p', { class: 'label' }, 'In the text'),
    renderFound([expected], actual),
  ];
}

function besideEachOther(expected: string, actual: string) {
  return [
    make('p', { class: 'note' }, 'Too different or too long to be compared word by word.'),
    make('p', { class: 'label' }, 'Expected'),
    renderText(expected, 'code'),
    make('p', { class: 'label' }, 'Actual'),
    renderText(actual, 'code'),
  ];
}

type Change = { readonly value: string; readonly added?: boolean; readonly removed?: boolean };

/**
 * Lines are compared where there are many, else words.
 * @returns undefined when it takes too long
 */
function findChanges(expected: string, actual: string): readonly Change[] | undefined {
  const hasLines = Math.min(expected.split('\n').length, actual.split('\n').length) > 6;
  const options = { timeout: 300 };
  return hasLines ? diffLines(expected, actual, options) : diffWordsWithSpace(expected, actual, options);
}

function renderLegend() {
  return make(
    'p',
    { class: 'legend' },
    make('del', {}, 'expected, but missing'),
    make('ins', {}, 'there, but not expected'),
  );
}

function renderChanges(changes: readonly Change[]) {
  const pieces = changes.map(({ value, added, removed }) =>
    added ? make('ins', {}, value) : removed ? make('del', {}, value) : value,
  );
  return make('pre', { class: 'code diff', tabindex: 0, dir: 'auto' }, ...pieces);
}

function renderSought(texts: readonly string[], content: string) {
  const items = texts.slice(0, 100).map((text) => {
    const isThere = text !== '' && content.toLowerCase().includes(text.toLowerCase());
    return make('li', {}, make('code', {}, text), make('small', {}, isThere ? 'found' : 'not found'));
  });
  return make('div', {}, make('ul', { class: 'sought' }, ...items), renderFound(texts, content));
}

/** The text with the places marked at which the others stand. */
function renderFound(texts: readonly string[], content: string) {
  const shown = content.slice(0, LARGEST);
  const lower = shown.toLowerCase();
  const pre = make('pre', { class: 'code diff', tabindex: 0, dir: 'auto' });
  let from = 0;
  for (const [start, end] of lower.length === shown.length ? findPlaces(texts, lower) : []) {
    if (start < from) continue;
    pre.append(shown.slice(from, start), make('mark', {}, shown.slice(start, end)));
    from = end;
  }
  pre.append(shown.slice(from));
  if (shown.length === content.length) return pre;
  return make(
    'div',
    {},
    pre,
    make('p', { class: 'note' }, `The first ${count(LARGEST)} characters are searched.`),
  );
}

function findPlaces(texts: readonly string[], lower: string): [start: number, end: number][] {
  const places: [start: number, end: number][] = [];
  for (const text of texts.filter((one) => one !== '')) {
    const wanted = text.toLowerCase();
    let at = lower.indexOf(wanted);
    while (at >= 0 && places.length < 2000) {
      places.push([at, at + wanted.length]);
      at = lower.indexOf(wanted, at + wanted.length);
    }
  }
  return places.sort(([a], [b]) => a - b);
}

function prettyIfJson(text: string) {
  try {
    return toPrettyJson(JSON.parse(text));
  } catch {
    return text;
  }
}
