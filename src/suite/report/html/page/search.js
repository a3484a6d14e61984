import { readDetail } from './data.js';

/** @import { Entry } from './data.js' */

/** Milliseconds of work after which the browser may draw and listen again. */
const SLICE = 12;

/** Milliseconds between two reports of what is found so far; showing it costs more than finding it. */
const NEWS = 150;

/**
 * Finds the cases that have the words in their id, tags or texts, whatever their case. `onFound` gets all that is
 * found so far, again and again, and whether that is all.
 * @param {readonly Entry[]} entries
 * @param {string} query
 * @param {(found: readonly Entry[], isDone: boolean) => void} onFound
 * @returns {() => void} stops the search
 */
export function search(entries, query, onFound) {
  const matches = matcherOf(query);
  /** @type {Entry[]} */
  const found = [];
  let next = 0;
  let timer = 0;
  let told = performance.now();
  const work = () => {
    const end = performance.now() + SLICE;
    while (next < entries.length && performance.now() < end) {
      const entry = entries[next];
      next += 1;
      if (entry !== undefined && matches(entry)) found.push(entry);
    }
    const isDone = next >= entries.length;
    if (!isDone) timer = window.setTimeout(work);
    if (!isDone && performance.now() < told + NEWS) return;
    told = performance.now();
    onFound(found, isDone);
  };
  work();
  return () => clearTimeout(timer);
}

/**
 * @param {string} query
 * @returns {(entry: Entry) => boolean}
 */
function matcherOf(query) {
  const wanted = query.toLowerCase();
  // Looking into the JSON is much cheaper than parsing it.
  const inJson = JSON.stringify(wanted).slice(1, -1).replaceAll('<', '\\u003c');
  const has = (/** @type {string} */ text) => text.toLowerCase().includes(wanted);
  return (entry) => {
    if (has(entry.id) || entry.tags.some(has) || has(entry.text) || has(entry.why)) return true;
    if (entry.detail === null || !entry.detail.toLowerCase().includes(inJson)) return false;
    return textsOf(readDetail(entry)).some(has);
  };
}

/** Members whose values are words of the format rather than of the case. */
const ownWords = new Set(['role', 'eval', 'status', 'file', 'hook', 'phase', 'verdict']);

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function textsOf(value) {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (ownWords.has(key) ? [] : textsOf(member)));
}
