import type { Entry } from '../data.ts';
import { readDetail } from '../data.ts';

/** Milliseconds of work after which the browser may draw and listen again. */
const SLICE = 12;

/** Milliseconds between two reports of what is found so far; showing it costs more than finding it. */
const NEWS = 150;

/**
 * Finds the cases that have the words in their id, tags or texts, whatever their case. `onFound` gets all that is
 * found so far, again and again, and whether that is all.
 * @returns stops the search
 */
export function search(
  entries: readonly Entry[],
  query: string,
  onFound: (found: readonly Entry[], isDone: boolean) => void,
): () => void {
  const matches = matcherOf(query);
  const found: Entry[] = [];
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

function matcherOf(query: string): (entry: Entry) => boolean {
  const wanted = query.toLowerCase();
  // Looking into the JSON is much cheaper than parsing it.
  const inJson = JSON.stringify(wanted).slice(1, -1).replaceAll('<', '\\u003c');
  const has = (text: string) => text.toLowerCase().includes(wanted);
  const matches = (entry: Entry): boolean => {
    if (entry.variants.some(matches)) return true;
    if (has(entry.id) || entry.tags.some(has) || has(entry.text) || has(entry.why)) return true;
    if (entry.detail === null || !entry.detail.toLowerCase().includes(inJson)) return false;
    return textsOf(readDetail(entry)).some(has);
  };
  return matches;
}

/** Members whose values are words of the format rather than of the case. */
const ownWords = new Set(['role', 'eval', 'status', 'file', 'hook', 'phase', 'verdict']);

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (ownWords.has(key) ? [] : textsOf(member)));
}
