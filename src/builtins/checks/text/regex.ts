import { Json } from '../../../base/json/json.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { findPatternProblem, matchPattern } from '../regex/pattern-match.ts';

export const regex: Check = {
  type: 'regex',
  aliases: ['content_matches'],
  family: 'text',
  summary: 'Whether the pattern is found in the content.',
  range: '0 or 1',
  params: {
    pattern: {
      schema: { type: 'string', minLength: 1 },
      required: true,
      description: 'A regular expression of JavaScript’s; `(?i)`, `(?s)` and `(?m)` may lead it.',
    },
    expect_match: {
      schema: { type: 'boolean' },
      default: true,
      description: 'false: the pattern must not be found.',
    },
  },
  example: { params: { pattern: '(?i)order #\\d{4}' }, content: 'Your Order #4711 is on its way.', score: 1 },
  findProblems: ({ pattern }) => {
    const message = findPatternProblem(String(pattern));
    return message === undefined ? [] : [{ param: 'pattern', message }];
  },
  run: async ({ params, request, signal }) => {
    const match = await matchPattern(String(params['pattern']), request.content, signal);
    if ('timedOut' in match) return unscored(match.timedOut);
    const { matched } = match;
    const detail = matched ? 'the pattern was found' : 'the pattern was not found';
    return scored(matched === params['expect_match'] ? 1 : 0, detail, Json.from({ matched }));
  },
};
