import type { Served } from '../row.ts';

/** A choice of the person that the browser keeps; null where there is none, or it keeps nothing for such pages. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Where the browser keeps nothing, the choice lasts as long as the page. */
export function keep(key: string, value: string) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Pages from files may keep nothing in some browsers.
  }
}

const storageKey = 'eval-rater';

/** Under which name this person rates: the last one given here, else that of who serves the page. */
export function nameOf({ by }: Served): string {
  return readKept(storageKey) ?? by;
}

export function keepName(name: string) {
  keep(storageKey, name);
}
