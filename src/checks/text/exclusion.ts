import { type EvalOutcome, scored } from '../../contract/eval.ts';
import { Json } from '../../json/json.ts';
import type { Check, CheckInput } from '../check.ts';
import { judgedTexts, scopeParam } from './judged-texts.ts';
import { foldCase, quoteAll, textsOf, textsParam } from './text-params.ts';

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
          'Whether a pattern counts anywhere, or only where no letter, digit or `_` goes on at its ends.',
      },
      scope: scopeParam,
    },
    run: scoreExclusion,
  };
}

function scoreExclusion({ params, request }: CheckInput): EvalOutcome {
  const contains = params['match_mode'] === 'word_boundary' ? hasWord : hasText;
  const texts = judgedTexts(request, params).map(foldCase);
  const found = textsOf(params, 'patterns').filter((pattern) =>
    texts.some((text) => contains(text, foldCase(pattern))),
  );
  const data = Json.from({ found });
  return found.length === 0
    ? scored(1, 'none was found', data)
    : scored(0, `found: ${quoteAll(found)}`, data);
}

function hasText(text: string, pattern: string): boolean {
  return text.includes(pattern);
}

/** Only an end of the pattern that is part of a word asks for a boundary, so that `C++` is found too. */
function hasWord(text: string, pattern: string): boolean {
  const beginsWord = /^[\p{L}\p{M}\p{N}_]/u.test(pattern);
  const endsWord = /[\p{L}\p{M}\p{N}_]$/u.test(pattern);
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) {
    const end = at + pattern.length;
    const goesOnBefore = beginsWord && /[\p{L}\p{M}\p{N}_]$/u.test(text.slice(Math.max(at - 2, 0), at));
    const goesOnAfter = endsWord && /^[\p{L}\p{M}\p{N}_]/u.test(text.slice(end, end + 2));
    if (!goesOnBefore && !goesOnAfter) return true;
  }
  return false;
}
