import type { Served } from '../row.ts';
import { keep, readKept } from './kept.ts';

const storageKey = 'eval-rater';

/** Under which name this person rates: the last one given here, else that of who serves the page. */
export function nameOf({ by }: Served): string {
  return readKept(storageKey) ?? by;
}

export function keepName(name: string) {
  keep(storageKey, name);
}
