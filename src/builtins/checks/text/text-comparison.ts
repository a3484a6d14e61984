import { distance } from 'fastest-levenshtein';
import { Json } from '../../../base/json/json.ts';
import { scored, unscored } from '../../../contract/eval.ts';
import type { Check, ParamSpec, Params } from '../check.ts';
import { countCharacters } from './text-params.ts';

const expected: ParamSpec = {
  schema: { type: ['string', 'number', 'boolean'] },
  required: true,
  description: 'The wanted text; a number or a boolean stands for its JSON text.',
};

const comparisonParams: Readonly<Record<string, ParamSpec>> = {
  ignore_case: { schema: { type: 'boolean' }, default: false, description: 'Whether case is passed over.' },
  trim: {
    schema: { type: 'boolean' },
    default: false,
    description: 'Whether white space at both ends is passed over.',
  },
};

export const equals: Check = {
  type: 'equals',
  aliases: [],
  family: 'text',
  summary: 'Whether the content is the expected text.',
  range: '0 or 1',
  params: { expected, ...comparisonParams },
  example: { params: { expected: 'Oslo', trim: true }, content: 'Oslo\n', score: 1 },
  findProblems: findInexactNumber,
  run: ({ params, request }) => {
    const isEqual = normalize(request.content, params) === normalize(String(params['expected']), params);
    return isEqual ? scored(1, 'is the expected text') : scored(0, 'is another text than expected');
  },
};

export const startsWith: Check = {
  type: 'starts_with',
  aliases: [],
  family: 'text',
  summary: 'Whether the content starts with the expected text.',
  range: '0 or 1',
  params: { expected, ...comparisonParams },
  example: { params: { expected: 'dear', ignore_case: true }, content: 'Dear Ada,', score: 1 },
  findProblems: findInexactNumber,
  run: ({ params, request }) => {
    const isStart = normalize(request.content, params).startsWith(
      normalize(String(params['expected']), params),
    );
    return isStart ? scored(1, 'starts as expected') : scored(0, 'starts otherwise than expected');
  },
};

export const levenshtein: Check = {
  type: 'levenshtein',
  aliases: [],
  family: 'text',
  summary: 'How alike the content and the expected text are: 1 - edits / the length of the longer one.',
  range: 'ratio',
  params: { expected, ...comparisonParams },
  example: { params: { expected: 'kitchen' }, content: 'kitten', score: 5 / 7 },
  findProblems: findInexactNumber,
  run: ({ params, request }) => {
    const content = normalize(request.content, params);
    const wanted = normalize(String(params['expected']), params);
    if (content.length * wanted.length > MAX_CELLS) return unscored('the texts are too long to be compared');
    const edits = countEdits(content, wanted);
    const longest = Math.max(countCharacters(content), countCharacters(wanted), 1);
    return scored(
      (longest - edits) / longest,
      `${edits} edits in ${longest} characters`,
      Json.from({ edits, longest }),
    );
  },
};

/** Two texts of some thirty thousand characters, which take a tenth of a second. */
const MAX_CELLS = 1_000_000_000;

function normalize(text: string, { ignore_case, trim }: Params): string {
  const composed = (trim === true ? text.trim() : text).normalize('NFC');
  return ignore_case === true ? composed.toUpperCase() : composed;
}

function findInexactNumber({ expected: wanted }: Params): { param: string; message: string }[] {
  if (typeof wanted !== 'number' || !Number.isInteger(wanted) || Number.isSafeInteger(wanted)) return [];
  return [{ param: 'expected', message: 'is a longer number than can be compared; write it as a text' }];
}

/** The distance in code points, where the library counts UTF-16 units: each code point gets a unit of its own. */
function countEdits(one: string, other: string): number {
  if (!/[\ud800-\udfff]/.test(one + other)) return distance(one, other);
  const units = new Map<string, string>();
  const toUnits = (text: string) =>
    Array.from(text, (character) => {
      const unit = units.get(character) ?? String.fromCharCode(units.size);
      units.set(character, unit);
      return unit;
    }).join('');
  return distance(toUnits(one), toUnits(other));
}
