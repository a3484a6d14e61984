import type { ScannedText } from '../scanned-text.ts';
import type { Lexicon, WordKind } from './name-lexicon.ts';

export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly kind: WordKind;
}

/** Consecutive capitalized words; particles such as `van` may be in between. */
export type WordRun = readonly [Word, ...Word[]];

const particles = /^(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ten|ter|bin|al|el|af|av|zu|y)$/;
// Bounded, because Chinese has no blanks and an endless repeat of such a class overflows the engine's stack.
const shape = /\p{Lu}\.(?=\s)|[\p{L}\p{M}]{1,200}(?:['’-][\p{L}\p{M}]{1,200}){0,50}/gu;

/** Returns the runs of a text in order; cached for all finders. */
export function capitalizedRuns(scan: ScannedText, lexicon: Lexicon): readonly WordRun[] {
  const runs = runsByText.get(scan) ?? [...readRuns(scan.text, lexicon)];
  runsByText.set(scan, runs);
  return runs;
}

const runsByText = new WeakMap<ScannedText, readonly WordRun[]>();

function* readRuns(text: string, lexicon: Lexicon): Generator<WordRun> {
  let run: Word[] = [];
  let pending: Word[] = [];
  for (const { 0: written, index } of text.matchAll(shape)) {
    const possessive = /['’]s$/i.exec(written)?.[0].length ?? 0;
    const word = written.slice(0, written.length - possessive);
    const start = index;
    const previous = pending.at(-1) ?? run.at(-1);
    const isNext = previous !== undefined && isJoint(text, previous.end, start) && run.length < longestRun;
    const found = { text: word, start, end: start + word.length, kind: lexicon.kindOf(word) };
    if (isNext && particles.test(word)) pending.push(found);
    else if (/^\p{Lu}/u.test(word)) {
      const [first, ...rest] = isNext ? [...run, ...pending, found] : [found];
      if (!isNext) yield* asRun(run);
      run = first === undefined ? [] : [first, ...rest];
      pending = [];
    } else {
      yield* asRun(run);
      run = [];
      pending = [];
    }
  }
  yield* asRun(run);
}

const longestRun = 6;

function isJoint(text: string, from: number, to: number): boolean {
  return to - from === 1 && text[from] === ' ';
}

function* asRun([first, ...rest]: readonly Word[]): Generator<WordRun> {
  if (first !== undefined) yield [first, ...rest];
}
