import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { findContentJson, jsonLocationParams } from './json-location-params.ts';

export const jsonValid: Check = {
  type: 'json_valid',
  aliases: ['is_valid_json', 'valid_json'],
  family: 'json',
  summary: 'Whether the content is JSON.',
  range: '0 or 1',
  params: jsonLocationParams,
  example: { params: { allow_wrapped: true }, content: '```json\n{"city": "Oslo"}\n```', score: 1 },
  run: ({ params, request }) => {
    const found = findContentJson(request.content, params);
    return 'problem' in found ? scored(0, `no JSON: ${found.problem}`) : scored(1, 'is JSON');
  },
};
