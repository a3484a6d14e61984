import { Json } from '../../../base/json/json.ts';
import { searchFolded } from '../../../base/text/words.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { judgedTexts, scopeParam } from './judged-texts.ts';
import { quoteAll, scorePresent, textsOf, textsParam } from './text-params.ts';

export const contains: Check = {
  type: 'contains',
  aliases: ['content_includes'],
  family: 'text',
  summary: 'How many of the patterns stand in the content, in any case.',
  range: 'ratio',
  params: { patterns: { schema: textsParam, required: true, description: 'Texts to look for.' } },
  example: {
    params: { patterns: ['Oslo', 'Bergen'] },
    content: 'The train leaves oslo at nine.',
    score: 0.5,
  },
  run: ({ params, request }) => scorePresent(request.content, textsOf(params, 'patterns')),
};

export const containsAny: Check = {
  type: 'contains_any',
  aliases: ['content_includes_any'],
  family: 'text',
  summary: 'Whether one of the patterns stands in one of the model’s answers, in any case.',
  range: '0 or 1',
  params: {
    patterns: { schema: textsParam, required: true, description: 'Texts to look for.' },
    scope: scopeParam,
  },
  example: { params: { patterns: ['sorry', 'apologise'] }, content: 'I apologise for the delay.', score: 1 },
  run: ({ params, request }) => {
    const texts = judgedTexts(request, params).map(searchFolded);
    const patterns = textsOf(params, 'patterns');
    const matched = patterns.filter((pattern) => texts.some(({ has }) => has(pattern)));
    const data = Json.from({ matched });
    return matched.length > 0
      ? scored(1, `found: ${quoteAll(matched)}`, data)
      : scored(0, `found none of: ${quoteAll(patterns)}`, data);
  },
};

export const fieldPresence: Check = {
  type: 'field_presence',
  aliases: ['required_fields'],
  family: 'text',
  summary: 'How many of the field names stand in the content, in any case and anywhere.',
  range: 'ratio',
  params: { fields: { schema: textsParam, required: true, description: 'Names to look for.' } },
  example: {
    params: { fields: ['name', 'email', 'phone'] },
    content: 'Name: Ada\nEmail: ada@example.com\nPhone: none',
    score: 1,
  },
  run: ({ params, request }) => scorePresent(request.content, textsOf(params, 'fields')),
};
