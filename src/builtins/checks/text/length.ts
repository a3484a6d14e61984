import { Json } from '../../../base/json/json.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check, ParamSpec } from '../check.ts';
import { countCharacters } from './text-params.ts';

export const minLength: Check = {
  type: 'min_length',
  aliases: [],
  family: 'text',
  summary: 'Whether the content is long enough; a shorter one scores its length / min.',
  range: 'ratio',
  params: { min: charactersParam('min') },
  example: { params: { min: 20 }, content: 'Too short.', score: 0.5 },
  run: ({ params, request }) => {
    const length = countCharacters(request.content);
    const min = Number(params['min']);
    return scored(
      Math.min(1, length / min),
      `${length} characters, at least ${min}`,
      Json.from({ length, min }),
    );
  },
};

export const maxLength: Check = {
  type: 'max_length',
  aliases: ['length'],
  family: 'text',
  summary: 'Whether the content is short enough; a longer one scores limit / length, the lower of the two.',
  range: 'ratio',
  params: {
    max: charactersParam('max'),
    max_tokens: {
      schema: { type: 'integer', minimum: 1 },
      description: 'Tokens, at four characters to a token.',
    },
  },
  anyOf: [['max', 'max_tokens']],
  example: { params: { max: 5 }, content: 'Ten signs.', score: 0.5 },
  run: ({ params: { max, max_tokens }, request }) => {
    const length = countCharacters(request.content);
    const tokens = Math.floor(length / CHARACTERS_PER_TOKEN);
    const limits = [
      { actual: length, limit: max, noun: 'characters' },
      { actual: tokens, limit: max_tokens, noun: 'tokens' },
    ].filter(({ limit }) => limit !== undefined);
    const score = Math.min(1, ...limits.map(({ actual, limit }) => Number(limit) / actual));
    const detail = limits.map(({ actual, limit, noun }) => `${actual} ${noun}, at most ${limit}`).join('; ');
    return scored(score, detail, Json.from({ length, tokens, max, max_tokens }));
  },
};

const CHARACTERS_PER_TOKEN = 4;

function charactersParam(name: 'min' | 'max'): ParamSpec {
  return {
    schema: { type: 'integer', minimum: 1 },
    aliases: [`${name}_characters`, `${name}_chars`],
    ...(name === 'min' && { required: true as const }),
    description: 'Characters, which are Unicode code points.',
  };
}
