import { type EvalUnscored, unscored } from '../../../contract/eval.ts';
import type { CheckInput, ParamSpec, Params } from '../check.ts';

/** The expected texts; the best match counts. */
export const expectedParam: ParamSpec = {
  schema: {
    anyOf: [
      { type: ['string', 'number', 'boolean'] },
      { type: 'array', items: { type: ['string', 'number', 'boolean'] }, minItems: 1 },
    ],
  },
  aliases: ['references'],
  required: true,
  description: 'The expected text, or several, of which the best match counts.',
};

export function expectedOf({ expected }: Params): readonly [string, ...string[]] {
  const [first, ...others] = (Array.isArray(expected) ? expected : [expected]).map(String);
  return [first ?? '', ...others];
}

/** Why the texts are too long to compare; undefined if they are not. */
export function findTooLong({ params, request }: CheckInput): EvalUnscored | undefined {
  const length = expectedOf(params).reduce((sum, text) => sum + text.length, request.content.length);
  return length > MAX_LENGTH ? unscored('the texts are too long to compare') : undefined;
}

/** About 200,000 words, which take half a second. */
export const MAX_LENGTH = 1_000_000;
