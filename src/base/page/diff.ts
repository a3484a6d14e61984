import { diffLines, diffWordsWithSpace } from 'diff';
import { type Child, make } from './dom.ts';

/** Combined characters of both texts; comparing more is too slow. */
const LARGEST = 100_000;

/** What the two kinds of marks mean, for the legend. */
interface DiffWords {
  readonly removed: string;
  readonly added: string;
}

/** Marks what is different, by lines or words. Null if the texts are too long or too different. */
export function renderDiff(before: string, after: string, { removed, added }: DiffWords): Child {
  const changes = before.length + after.length > LARGEST ? undefined : findChanges(before, after);
  if (changes === undefined) return null;
  const pieces = changes.map(({ value: text, ...change }) =>
    change.added ? make('ins', {}, text) : change.removed ? make('del', {}, text) : text,
  );
  const legend = [make('del', {}, removed), make('ins', {}, added)];
  return [make('p', { class: 'legend' }, legend), pieceBox(pieces)];
}

export function pieceBox(pieces: Child) {
  return make('pre', { class: 'code diff', tabindex: 0, dir: 'auto' }, pieces);
}

type Change = { readonly value: string; readonly added?: boolean; readonly removed?: boolean };

/** Compares lines if there are many, otherwise words. Returns undefined if that takes too long. */
function findChanges(before: string, after: string): readonly Change[] | undefined {
  const hasLines = Math.min(before.split('\n').length, after.split('\n').length) > 6;
  const options = { timeout: 300 };
  return hasLines ? diffLines(before, after, options) : diffWordsWithSpace(before, after, options);
}
