import { Json } from '../../../base/json/json.ts';
import { foldText, spaceWords } from '../../../base/text/words.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { countEach, countShared } from './answer-match.ts';
import { expectedOf, expectedParam, findTooLong } from './reference-params.ts';
import { runsOf } from './rouge.ts';

/**
 * Source: Papineni et al. 2002, https://aclanthology.org/P02-1040/; words (13a), smoothing (exp) and the effective order of a
 * sentence as in sacreBLEU, Post 2018, https://aclanthology.org/W18-6319/
 */
export const bleu: Check = {
  type: 'bleu',
  aliases: [],
  family: 'reference',
  summary:
    'How much of the content’s runs of one to four words are an expected text’s: BLEU of a sentence, from 0 to 1, as sacreBLEU computes it. Words of scripts without spaces are those of a dictionary.',
  range: '0..1',
  params: { expected: expectedParam },
  example: { params: { expected: 'The dog bit the man.' }, content: 'The dog bit the man.', score: 1 },
  run: (asked) => {
    const tooLong = findTooLong(asked);
    if (tooLong !== undefined) return tooLong;
    const { params, request } = asked;
    const given = wordsOf(request.content);
    const wanted = expectedOf(params).map(wordsOf);
    const length = closestLength(given.length, wanted);
    const precisions = smooth(countMatches(given, wanted));
    const brevity = given.length >= length ? 1 : given.length === 0 ? 0 : Math.exp(1 - length / given.length);
    const mean = precisions.length === 0 ? 0 : Math.exp(sum(precisions.map(Math.log)) / precisions.length);
    // Of four times 1 the logarithms may come to a little more.
    const score = Math.min(1, brevity * mean);
    return scored(score, `BLEU ${(100 * score).toFixed(1)}`, Json.from({ precisions, brevity }));
  },
};

const MOST_WORDS = 4;

interface Matches {
  readonly shared: number;
  readonly total: number;
}

/** For runs of one word, of two, …: as often as in the expected text that has them most often. */
function countMatches(given: readonly string[], wanted: readonly (readonly string[])[]): Matches[] {
  return Array.from({ length: MOST_WORDS }, (_, index) => {
    const runs = runsOf(given, index + 1);
    const most = new Map<string, number>();
    for (const words of wanted)
      for (const [run, count] of countEach(runsOf(words, index + 1)))
        most.set(run, Math.max(count, most.get(run) ?? 0));
    return { shared: countShared(countEach(runs), most), total: runs.length };
  });
}

/** The precisions; of runs of which none is shared half of what the ones before had, and none of those that the content is too short for. */
function smooth(matches: readonly Matches[]): number[] {
  if (matches.every(({ shared }) => shared === 0)) return [];
  let halved = 1;
  return matches
    .filter(({ total }) => total > 0)
    .map(({ shared, total }) => {
      if (shared > 0) return shared / total;
      halved *= 2;
      return 1 / (halved * total);
    });
}

/** Of the expected texts, the length that is nearest; the shorter of two. */
function closestLength(length: number, wanted: readonly (readonly string[])[]): number {
  const byDistance = wanted
    .map((words) => words.length)
    .toSorted((one, other) => Math.abs(one - length) - Math.abs(other - length) || one - other);
  return byDistance[0] ?? 0;
}

/** The words of "13a", after a space between words of scripts that have none. "13a" is mteval-v13a’s: https://github.com/mjpost/sacrebleu/blob/master/sacrebleu/tokenizers/tokenizer_13a.py */
function wordsOf(text: string): string[] {
  const line = spaceWords(foldText(text))
    .trimEnd()
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return ` ${line} `
    .replace(/[{-~[-` -&(-+:-@/]/g, ' $& ')
    .replace(/([^0-9])([.,])/g, '$1 $2 ')
    .replace(/([.,])([^0-9])/g, ' $1 $2')
    .replace(/([0-9])(-)/g, '$1 $2 ')
    .split(/\s+/u)
    .filter((word) => word !== '');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
