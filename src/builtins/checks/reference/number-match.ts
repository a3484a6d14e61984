import { compare, type Exact, exact, multiply, subtract } from '../../../base/json/decimal.ts';
import { Json } from '../../../base/json/json.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';

const size = { type: 'number', minimum: 0 };

export const numberMatch: Check = {
  type: 'number_match',
  aliases: ['numeric_match'],
  family: 'reference',
  summary:
    'Whether the last number of the content is the expected one, or as near to it as a tolerance allows. Numbers are decimals; `1,234.5` and `1.2345e3` are one.',
  range: '0 or 1',
  params: {
    expected: { schema: { type: 'number' }, required: true, description: 'The wanted number.' },
    tolerance: {
      schema: size,
      default: 0,
      description: 'How far the number may be from the wanted one; the end is included.',
    },
    relative: {
      schema: size,
      default: 0,
      description: 'The same as a share of the wanted number, such as 0.01; the larger of both counts.',
    },
  },
  example: {
    params: { expected: 1234.5, tolerance: 0.5 },
    content: 'That makes 3 × 411.6 = 1,235.',
    score: 1,
  },
  run: ({ params, request }) => {
    const found = lastNumber(request.content);
    if (found === undefined) return scored(0, 'there is no number in the content');
    const wanted = exact(Number(params['expected']));
    const difference = sizeOf(subtract(exact(found), wanted));
    const share = multiply(sizeOf(wanted), exact(Number(params['relative'])));
    const isNear = [exact(Number(params['tolerance'])), share].some((most) => compare(difference, most) <= 0);
    const data = Json.from({ found: Number(found) });
    return scored(isNear ? 1 : 0, `the last number is ${found}, wanted ${params['expected']}`, data);
  },
};

/** As text with digits, a point and an exponent. Groups of three digits may have commas, apostrophes or narrow spaces between them. */
function lastNumber(content: string): string | undefined {
  const last = [...content.matchAll(NUMBER)].at(-1)?.[0];
  return last?.replaceAll(/[,'’_\u00a0\u202f]/gu, '').replace('\u2212', '-');
}

/** No exponent of more than three digits: such a number is none that anybody means. */
const NUMBER =
  /(?<![\d.\p{L}])[-\u2212]?(?:\d{1,3}(?:[,'’_\u00a0\u202f]\d{3})+(?!\d)|\d{1,400})(?:\.\d{1,400})?(?:[eE][-+]?\d{1,3}(?!\d))?/gu;

function sizeOf(number: Exact): Exact {
  return number.over < 0n ? { ...number, over: -number.over } : number;
}
