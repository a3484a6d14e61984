import { Json } from '../../../base/json/json.ts';
import { foldText, spaceWords } from '../../../base/text/words.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { expectedOf, expectedParam, findTooLong, MAX_LENGTH } from './reference-params.ts';

/** Source of both definitions: the official evaluation script 2.0 at https://rajpurkar.github.io/SQuAD-explorer/ */
export const exactMatch: Check = {
  type: 'exact_match',
  aliases: [],
  family: 'reference',
  summary:
    'Whether the content is an expected answer, without case, punctuation, white space and the articles `a`, `an` and `the`: SQuAD’s exact match.',
  range: '0 or 1',
  params: { expected: expectedParam },
  example: { params: { expected: ['Eiffel Tower', 'Tour Eiffel'] }, content: 'The Eiffel tower.', score: 1 },
  run: ({ params, request }) => {
    if (request.content.length > MAX_LENGTH) return unscored('the content is too long to compare');
    const answer = normalizeAnswer(request.content);
    return expectedOf(params).some((wanted) => normalizeAnswer(wanted) === answer)
      ? scored(1, 'is an expected answer')
      : scored(0, 'is not an expected answer');
  },
};

export const tokenF1: Check = {
  type: 'token_f1',
  aliases: ['f1'],
  family: 'reference',
  summary:
    'How many words the content and an expected answer share: SQuAD’s F1, over words as `exact_match` compares them.',
  range: '0..1',
  params: { expected: expectedParam },
  example: { params: { expected: 'in the city of Oslo' }, content: 'Oslo city', score: 2 / 3 },
  run: (asked) => {
    const tooLong = findTooLong(asked);
    if (tooLong !== undefined) return tooLong;
    const { params, request } = asked;
    const words = wordsOf(request.content);
    const each = expectedOf(params).map((wanted) => overlapOf(words, wordsOf(wanted)));
    const best = each.reduce((one, other) => (other.f1 > one.f1 ? other : one));
    const { shared, f1, precision, recall } = best;
    return scored(f1, `${shared} words are shared`, Json.from({ f1, precision, recall }));
  },
};

function normalizeAnswer(text: string): string {
  return wordsOf(text).join(' ');
}

/** Keeps letters of every script. The definition drops only ASCII punctuation, so other scripts keep theirs. */
function wordsOf(text: string): string[] {
  const bare = foldText(text)
    .toLowerCase()
    .replace(/\p{P}|[$+<=>^`|~]/gu, '');
  return spaceWords(bare)
    .split(/\s+/u)
    .filter((word) => word !== '' && !articles.has(word));
}

const articles: ReadonlySet<string> = new Set(['a', 'an', 'the']);

interface Overlap {
  readonly shared: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

function overlapOf(given: readonly string[], wanted: readonly string[]): Overlap {
  if (given.length === 0 || wanted.length === 0) {
    const both = given.length === wanted.length ? 1 : 0;
    return { shared: 0, precision: both, recall: both, f1: both };
  }
  const shared = countShared(countEach(given), countEach(wanted));
  const [precision, recall] = [shared / given.length, shared / wanted.length];
  return { shared, precision, recall, f1: (2 * shared) / (given.length + wanted.length) };
}

export function countEach(items: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

export function countShared(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let shared = 0;
  for (const [item, count] of one) shared += Math.min(count, other.get(item) ?? 0);
  return shared;
}
