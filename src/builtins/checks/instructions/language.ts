import { Json } from '../../../base/json/json.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { codeSchema, detectLanguages, languageOf } from './detect-language.ts';

/** Told by n-grams of https://github.com/nitotm/efficient-language-detector-js */
export const language: Check = {
  type: 'language',
  aliases: ['is_language'],
  family: 'instructions',
  summary:
    'How much of the content is in one of the languages, of some sixty that are told apart by their runs of letters.',
  range: '0..1',
  params: {
    language: {
      schema: { anyOf: [codeSchema, { type: 'array', items: codeSchema, minItems: 1 }] },
      aliases: ['languages'],
      required: true,
      description:
        'A code of ISO 639-1, such as `de`, or several; what stands behind a hyphen is passed over.',
    },
  },
  example: { params: { language: ['de', 'fr'] }, content: 'Der Zug fährt um neun Uhr ab.', score: 1 },
  run: async ({ params, request }) => {
    const found = await detectLanguages(request.content);
    if (found === undefined) return unscored('the content has too few words to tell its language');
    const wanted = new Set([params['language']].flat().map(languageOf));
    const share = [...wanted].reduce((sum, one) => sum + (found.get(one) ?? 0), 0);
    const told = [...found].map(([one, part]) => `${one} ${Math.round(100 * part)} %`).join(', ');
    return scored(Math.min(1, share), told, Json.from(Object.fromEntries(found)));
  },
};
