import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meetsThreshold } from '../../../src/calls/capability/eval.ts';
import { type EvalOutcome, scored, unscored } from '../../../src/contract/eval.ts';
import { applyBounds, combine, invert } from '../../../src/suites/score/score.ts';

const missing = unscored('it crashed');

/** Scores in thousandths, whose complements are as distinct; null is no score. */
const score = fc.nat(1000).map((thousandths) => thousandths / 1000);
const parts = fc.array(fc.oneof(fc.constantFrom(0, 1, null), score), { minLength: 1, maxLength: 6 });

const toOutcome = (score: number | null): EvalOutcome => (score === null ? missing : scored(score, ''));
const scoreOf = (outcome: EvalOutcome): number | null => (outcome.status === 'scored' ? outcome.score : null);
const scoreFrom = (kind: 'any_of' | 'all_of', scores: readonly (number | null)[]) =>
  scoreOf(combine(kind, scores.map(toOutcome)));

test('the reason and the fault of an unscored part become those of the whole', () => {
  const error = { code: 'PROCESS_EXIT', message: 'exit 3', hint: 'look' } as const;
  expect(combine('all_of', [scored(1, 'fine'), unscored('exit 3', error)])).toEqual(
    unscored('all_of: exit 3', error),
  );
  expect(combine('any_of', [unscored('exit 3', error), scored(1, 'fine')])).toEqual(
    scored(1, 'unscored: exit 3; 1, fine'),
  );
});

describe('properties', () => {
  const kinds = fc.constantFrom('any_of' as const, 'all_of' as const);

  test('the order of the parts has no effect', () => {
    const shuffled = parts.chain((some) =>
      fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
    );
    fc.assert(
      fc.property(kinds, shuffled, (kind, [some, others]) => {
        expect(scoreFrom(kind, others)).toBe(scoreFrom(kind, some));
      }),
    );
  });

  test('not any_of equals all_of not, and not all_of equals any_of not, also with unscored parts', () => {
    fc.assert(
      fc.property(parts, (scores) => {
        const outcomes = scores.map(toOutcome);
        const inverted = outcomes.map(invert);
        expect(scoreOf(invert(combine('any_of', outcomes)))).toBe(scoreOf(combine('all_of', inverted)));
        expect(scoreOf(invert(combine('all_of', outcomes)))).toBe(scoreOf(combine('any_of', inverted)));
      }),
    );
  });

  test('a known score does not depend on the missing ones', () => {
    fc.assert(
      fc.property(kinds, parts, score, (kind, scores, late) => {
        const known = scoreFrom(kind, scores);
        const filled = scores.map((score) => score ?? late);
        fc.pre(known !== null);
        expect(scoreFrom(kind, filled)).toBe(known);
      }),
    );
  });

  test('nested combinations equal one of all their parts', () => {
    fc.assert(
      fc.property(kinds, parts, parts, (kind, some, others) => {
        const nested = combine(kind, [combine(kind, some.map(toOutcome)), ...others.map(toOutcome)]);
        expect(scoreOf(nested)).toBe(scoreFrom(kind, [...some, ...others]));
      }),
    );
  });

  test('bounds turn a score into 1 or 0 like a threshold, and leave a missing one missing', () => {
    const threshold = fc
      .tuple(score, score)
      .map(([a, b]) => ({ min_score: Math.min(a, b), max_score: Math.max(a, b) }));
    fc.assert(
      fc.property(score, threshold, (some, bounds) => {
        const outcome = scored(some, '');
        expect(scoreOf(applyBounds(outcome, bounds))).toBe(meetsThreshold(outcome, bounds) ? 1 : 0);
      }),
    );
    expect(applyBounds(missing, { min_score: 0 })).toBe(missing);
  });
});
