import { Json } from '../../../base/json/json.ts';
import { foldText, spaceWords } from '../../../base/text/words.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { countEach, countShared } from './answer-match.ts';
import { expectedOf, expectedParam, findTooLong } from './reference-params.ts';

/**
 * Source: Lin 2004, https://aclanthology.org/W04-1013/; words, n-grams and F-measure as in
 * https://github.com/google-research/google-research/tree/master/rouge without a stemmer.
 */
export const rouge: Check = {
  type: 'rouge',
  aliases: ['rouge-n'],
  family: 'reference',
  summary:
    'The overlap of the content and an expected text: ROUGE, over runs of words or the longest common subsequence, without stemming.',
  range: '0..1',
  params: {
    expected: expectedParam,
    variant: {
      schema: { enum: ['rouge1', 'rouge2', 'rouge3', 'rouge4', 'rougeL'] },
      default: 'rouge1',
      description: 'Runs of one to four words, or the longest common subsequence (`rougeL`).',
    },
    measure: {
      schema: { enum: ['f1', 'precision', 'recall'] },
      default: 'f1',
      description: 'Which of the three is the score; `data` has all.',
    },
  },
  example: {
    params: {
      expected: 'The quick brown fox jumps over the lazy dog',
      variant: 'rougeL',
      measure: 'precision',
    },
    content: 'The quick brown dog jumps on the log.',
    score: 0.625,
  },
  run: (asked) => {
    const tooLong = findTooLong(asked);
    if (tooLong !== undefined) return tooLong;
    const { params, request } = asked;
    const variant = String(params['variant']);
    const measure = String(params['measure']);
    const given = wordsOf(request.content);
    const wanted = expectedOf(params).map(wordsOf);
    if (variant === 'rougeL' && wanted.some((words) => words.length * given.length > MAX_CELLS))
      return unscored('the texts are too long for rougeL');
    const each = wanted.map((words) => compare(given, words, variant));
    const best = each.reduce((one, other) => (other.f1 > one.f1 ? other : one));
    const score = measure === 'precision' ? best.precision : measure === 'recall' ? best.recall : best.f1;
    return scored(score, `${variant} ${measure} ${score.toFixed(3)}`, Json.from({ ...best }));
  },
};

/** Two texts of ten thousand words, which take a tenth of a second. */
const MAX_CELLS = 100_000_000;

interface Comparison {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

function compare(given: readonly string[], wanted: readonly string[], variant: string): Comparison {
  const { shared, of, from } =
    variant === 'rougeL'
      ? { shared: commonLength(given, wanted), of: given.length, from: wanted.length }
      : compareRuns(given, wanted, Number(variant.slice(-1)));
  const precision = shared / Math.max(of, 1);
  const recall = shared / Math.max(from, 1);
  return { precision, recall, f1: (2 * shared) / Math.max(of + from, 1) };
}

function compareRuns(given: readonly string[], wanted: readonly string[], length: number) {
  const [of, from] = [runsOf(given, length), runsOf(wanted, length)];
  return { shared: countShared(countEach(of), countEach(from)), of: of.length, from: from.length };
}

export function runsOf(words: readonly string[], length: number): string[] {
  return Array.from({ length: Math.max(0, words.length - length + 1) }, (_, at) =>
    words.slice(at, at + length).join(' '),
  );
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const ids = new Map<string, number>();
  const idOf = (word: string) => {
    const id = ids.get(word) ?? ids.size;
    ids.set(word, id);
    return id;
  };
  const [rows, columns] = [Uint32Array.from(one, idOf), Uint32Array.from(other, idOf)];
  const lengths = new Uint32Array(columns.length + 1);
  for (const word of rows) {
    let diagonal = 0;
    let left = 0;
    for (let at = 1; at < lengths.length; at += 1) {
      const above = lengths[at] ?? 0;
      left = word === columns[at - 1] ? diagonal + 1 : Math.max(above, left);
      lengths[at] = left;
      diagonal = above;
    }
  }
  return lengths[columns.length] ?? 0;
}

/** Matches the reference implementation for ASCII; other letters, which it drops, count here. */
function wordsOf(text: string): string[] {
  return spaceWords(foldText(text).toLowerCase()).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
