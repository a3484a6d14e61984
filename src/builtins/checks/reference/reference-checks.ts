import { compare, type Exact, exact, multiply, subtract } from '../../../base/json/decimal.ts';
import { Json } from '../../../base/json/json.ts';
import { foldCase, foldText, openWords, spaceWords } from '../../../base/text/words.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check, Params } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { countEach, countShared, exactMatch, tokenF1 } from './answer-match.ts';
import { expectedOf, expectedParam, findTooLong } from './reference-params.ts';
import { rouge, runsOf } from './rouge.ts';

/**
 * Source: Papineni et al. 2002, https://aclanthology.org/P02-1040/; words (13a), smoothing (exp) and effective order as
 * in sacreBLEU, Post 2018, https://aclanthology.org/W18-6319/
 */
const bleu: Check = {
  type: 'bleu',
  aliases: [],
  family: 'reference',
  summary:
    'The share of the content’s runs of one to four words that an expected text has: BLEU of a sentence, from 0 to 1, as sacreBLEU computes it. In scripts without spaces, a dictionary finds the words.',
  range: '0..1',
  params: { expected: expectedParam },
  example: { params: { expected: 'The dog bit the man.' }, content: 'The dog bit the man.', score: 1 },
  run: (asked) => {
    const tooLong = findTooLong(asked);
    if (tooLong !== undefined) return tooLong;
    const { params, request } = asked;
    const given = wordsOf(request.content);
    const wanted = expectedOf(params).map(wordsOf);
    const length = closestLength(given.length, wanted);
    const precisions = smooth(countMatches(given, wanted));
    const brevity = given.length >= length ? 1 : given.length === 0 ? 0 : Math.exp(1 - length / given.length);
    const mean = precisions.length === 0 ? 0 : Math.exp(sum(precisions.map(Math.log)) / precisions.length);
    // Rounding of the logarithms may exceed 1.
    const score = Math.min(1, brevity * mean);
    return scored(score, `BLEU ${(100 * score).toFixed(1)}`, Json.from({ precisions, brevity }));
  },
};

const MOST_WORDS = 4;

interface Matches {
  readonly shared: number;
  readonly total: number;
}

function countMatches(given: readonly string[], wanted: readonly (readonly string[])[]): Matches[] {
  return Array.from({ length: MOST_WORDS }, (_, index) => {
    const runs = runsOf(given, index + 1);
    const most = new Map<string, number>();
    for (const words of wanted)
      for (const [run, count] of countEach(runsOf(words, index + 1)))
        most.set(run, Math.max(count, most.get(run) ?? 0));
    return { shared: countShared(countEach(runs), most), total: runs.length };
  });
}

/**
 * Exponential smoothing: the k-th order without a match counts as 1/2^k of a match. Omits orders longer than the
 * content.
 */
function smooth(matches: readonly Matches[]): number[] {
  if (matches.every(({ shared }) => shared === 0)) return [];
  let halved = 1;
  return matches
    .filter(({ total }) => total > 0)
    .map(({ shared, total }) => {
      if (shared > 0) return shared / total;
      halved *= 2;
      return 1 / (halved * total);
    });
}

function closestLength(length: number, wanted: readonly (readonly string[])[]): number {
  const byDistance = wanted
    .map((words) => words.length)
    .toSorted((one, other) => Math.abs(one - length) - Math.abs(other - length) || one - other);
  return byDistance[0] ?? 0;
}

/** Source: https://github.com/mjpost/sacrebleu/blob/master/sacrebleu/tokenizers/tokenizer_13a.py */
function wordsOf(text: string): string[] {
  const line = spaceWords(foldText(text))
    .trimEnd()
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return ` ${line} `
    .replace(/[{-~[-` -&(-+:-@/]/g, ' $& ')
    .replace(/([^0-9])([.,])/g, '$1 $2 ')
    .replace(/([.,])([^0-9])/g, ' $1 $2')
    .replace(/([0-9])(-)/g, '$1 $2 ')
    .split(/\s+/u)
    .filter((word) => word !== '');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const choice: Check = {
  type: 'choice',
  aliases: ['multiple_choice'],
  family: 'reference',
  summary:
    'Whether the content chooses the expected answer: the last `answer: X` or `answer is X` (in twelve languages), else the choice at its beginning, else the only one that it names.',
  range: '0 or 1',
  params: {
    expected: { schema: { type: 'string', minLength: 1 }, required: true, description: 'The right choice.' },
    choices: {
      schema: { ...textsParam, uniqueItems: true },
      default: ['A', 'B', 'C', 'D', 'E'],
      description: 'All choices, as answers write them, in any case; also in brackets, bold or quotes.',
    },
  },
  example: {
    params: { expected: 'B' },
    content: 'A is too small and C is no prime, so the answer is **B**.',
    score: 1,
  },
  findProblems: ({ expected, choices }: Params) =>
    Array.isArray(choices) && !choices.some((one) => foldCase(String(one)) === foldCase(String(expected)))
      ? [{ param: 'expected', message: `is not one of the choices ${choices.map(String).join(', ')}` }]
      : [],
  run: ({ params, request }) => {
    const chosen = findChoice(request.content, textsOf(params, 'choices'));
    const data = Json.from({ choice: chosen ?? null });
    if (chosen === undefined) return scored(0, 'no choice was found', data);
    const isRight = foldCase(chosen) === foldCase(String(params['expected']));
    return scored(isRight ? 1 : 0, `chose ${chosen}`, data);
  },
};

/** Returns the choice as the list spells it; undefined if none, or more than one, may be meant. */
function findChoice(content: string, choices: readonly string[]): string | undefined {
  const text = foldCase(content).trimStart();
  const { isAt } = openWords(text);
  const longestFirst = choices.toSorted((one, other) => other.length - one.length);
  const choiceFrom = (start: number): { choice: string; end: number } | undefined => {
    for (let at = start; at <= start + 20; at += 1) {
      const choice = longestFirst.find((one) => isAt(foldCase(one), at));
      if (choice !== undefined) return { choice, end: at + foldCase(choice).length };
      if (!/["'\u201c\u2018*_`([{\s\u300c\u300e]/.test(text[at] ?? '')) return undefined;
    }
    return undefined;
  };
  const told = [...text.matchAll(answer)]
    .map(({ 0: lead, index }) => choiceFrom(index + lead.length))
    .findLast((found) => found !== undefined);
  if (told !== undefined) return told.choice;
  const led = choiceFrom(0);
  if (led !== undefined && standsAlone.test(text.slice(led.end))) return led.choice;
  // A lone `A` within a sentence is more often an article than a choice.
  const fold = choices.some((one) => one.length === 1) ? foldText : foldCase;
  const named = namedChoices(fold(content), new Map(choices.map((one) => [fold(one), one])));
  return named.size === 1 ? [...named][0] : undefined;
}

const answer =
  /(?:ANSWER|ANTWORT|RÉPONSE|RESPUESTA|RESPOSTA|RISPOSTA|ОТВЕТ|答案|答え|正解|정답|उत्तर|คำตอบ)(?:\s{0,5}(?:IS|IST|LAUTET|EST|ES|É|È|是|为|為|は|은|है|คือ))?\s{0,5}[:=]?/gu;

const standsAlone = /^["'”’*_`\s\u300d\u300f]*([).:\]},\n\u3002\u3001]|$)/u;

function namedChoices(text: string, choices: ReadonlyMap<string, string>): ReadonlySet<string> {
  const { find } = openWords(text);
  const places: { start: number; end: number; choice: string }[] = [];
  for (const [folded, choice] of choices)
    for (let start = find(folded); start !== -1; start = find(folded, start + folded.length))
      places.push({ start, end: start + folded.length, choice });
  places.sort((one, other) => one.start - other.start || other.end - one.end);
  const named = new Set<string>();
  let end = 0;
  for (const place of places) {
    if (place.start < end) continue;
    named.add(place.choice);
    end = place.end;
  }
  return named;
}

const size = { type: 'number', minimum: 0 };

const numberMatch: Check = {
  type: 'number_match',
  aliases: ['numeric_match'],
  family: 'reference',
  summary:
    'Whether the last number of the content is the expected one, or within a tolerance of it. Numbers are decimals; `1,234.5` equals `1.2345e3`.',
  range: '0 or 1',
  params: {
    expected: { schema: { type: 'number' }, required: true, description: 'The expected number.' },
    tolerance: {
      schema: size,
      default: 0,
      description: 'How far the number may be from the expected one, inclusive.',
    },
    relative: {
      schema: size,
      default: 0,
      description: 'The same as a share of the expected number, such as 0.01; the larger of both counts.',
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

/**
 * Returns digits with a point and an exponent. Groups of three digits may be separated by commas, apostrophes or narrow
 * spaces.
 */
function lastNumber(content: string): string | undefined {
  const last = [...content.matchAll(NUMBER)].at(-1)?.[0];
  return last?.replaceAll(/[,'’_\u00a0\u202f]/gu, '').replace('\u2212', '-');
}

/** At most three exponent digits; longer ones are not numbers that a text means. */
const NUMBER =
  /(?<![\d.\p{L}])[-\u2212]?(?:\d{1,3}(?:[,'’_\u00a0\u202f]\d{3})+(?!\d)|\d{1,400})(?:\.\d{1,400})?(?:[eE][-+]?\d{1,3}(?!\d))?/gu;

function sizeOf(number: Exact): Exact {
  return number.over < 0n ? { ...number, over: -number.over } : number;
}

export const referenceChecks: readonly Check[] = [exactMatch, tokenF1, numberMatch, choice, rouge, bleu];
