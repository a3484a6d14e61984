import { Json } from '../../../base/json/json.ts';
import { searchFolded } from '../../../base/text/words.ts';
import { type EvalOutcome, scored } from '../../../contract/eval.ts';
import type { Check, CheckInput } from '../check.ts';
import { judgedTexts, scopeParam } from './judged-texts.ts';
import { quoteAll, textsOf, textsParam } from './text-params.ts';

export const contentExcludes: Check = createExclusionCheck({
  type: 'content_excludes',
  aliases: ['content_not_includes'],
  summary: 'Whether none of the patterns stands in any of the model’s answers, in any case.',
  mode: 'substring',
  example: { params: { patterns: ['refund'] }, content: 'We refunded you.', score: 0 },
});

export const bannedWords: Check = createExclusionCheck({
  type: 'banned_words',
  aliases: [],
  summary: 'The same as `content_excludes`, for whole words.',
  mode: 'word_boundary',
  example: { params: { words: ['ass'] }, content: 'The class assembled.', score: 1 },
});

function createExclusionCheck({
  mode,
  ...rest
}: Pick<Check, 'type' | 'aliases' | 'summary' | 'example'> & { mode: string }): Check {
  return {
    ...rest,
    family: 'text',
    range: '0 or 1',
    params: {
      patterns: {
        schema: textsParam,
        aliases: ['words'],
        required: true,
        description: 'Texts that must not be there.',
      },
      match_mode: {
        schema: { enum: ['substring', 'word_boundary'] },
        default: mode,
        description:
          'Whether a pattern counts anywhere, or only where no letter, digit or `_` goes on at its ends; in scripts without spaces, where a dictionary ends a word.',
      },
      scope: scopeParam,
    },
    run: scoreExclusion,
  };
}

function scoreExclusion({ params, request }: CheckInput): EvalOutcome {
  const find = params['match_mode'] === 'word_boundary' ? 'hasWord' : 'has';
  const texts = judgedTexts(request, params).map(searchFolded);
  const found = textsOf(params, 'patterns').filter((pattern) => texts.some((text) => text[find](pattern)));
  const data = Json.from({ found });
  return found.length === 0
    ? scored(1, 'none was found', data)
    : scored(0, `found: ${quoteAll(found)}`, data);
}
