import type { Finding } from '../finding.ts';
import { type ScannedText, textBefore } from '../scanned-text.ts';
import { capitalizedRuns, type Word, type WordRun } from './capitalized-runs.ts';
import { openLexicon } from './name-lexicon.ts';

/** Names of places: those on a list, and unknown words with a capital behind words that lead to a place. */
export function* findLocations(scan: ScannedText): Generator<Finding> {
  const { text } = scan;
  if (!/\p{L}/u.test(text)) return;
  const lexicon = openLexicon();
  for (const run of capitalizedRuns(scan, lexicon)) {
    const words = followsLocationPhrase(textBefore(text, run[0].start, 40)) ? locationPart(run) : [];
    if (words.length > 0) yield toFinding(words);
    else yield* findListed(run, (words) => lexicon.kindOf(words) === 'place');
  }
}

/** "originally from", "moved to", "born in": what follows is a place, whatever it is called. */
function followsLocationPhrase(before: string): boolean {
  return /\b(?:originally from|i'm from|i am from|comes? from|moved (?:here )?(?:from|to)|(?:flew|fly|flying|travel|travell?ing|trip|relocat(?:e|ed|ing)) to|born in|living in|lives? in|based in|located in|visit(?:ing|ed)?|city of|resident of|citizen of|grew up in|in|where:) $/i.test(
    before,
  );
}

function locationPart(run: WordRun): readonly Word[] {
  const end = run.findIndex(({ kind }) => kind === 'common' || kind === 'organization');
  return end === -1 ? run : run.slice(0, end);
}

/** The longest listed names in a run, such as `United Kingdom`. */
function* findListed(run: WordRun, isListed: (words: string) => boolean): Generator<Finding> {
  const isName = (words: string) => words.length > 2 && isListed(words);
  for (let first = 0; first < run.length; ) {
    let last = run.length;
    while (last > first && !isName(joinWords(run.slice(first, last)))) last -= 1;
    if (last > first) yield toFinding(run.slice(first, last));
    first = Math.max(last, first + 1);
  }
}

function joinWords(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

function toFinding(words: readonly Word[]): Finding {
  return {
    entity: 'LOCATION',
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    isConfirmed: false,
  };
}
