import { distance } from 'fastest-levenshtein';
import { Json } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import { foldText, searchFolded } from '../../../base/text/words.ts';
import { type EvalOutcome, type EvalRequest, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamSpec, Params } from '../check.ts';
import { cosine } from '../embedding/cosine.ts';
import { toPlainTree } from '../plain-tree.ts';
import { findPatternProblem, matchPattern } from '../regex/pattern-match.ts';
import { sentenceCount } from './sentences.ts';
import { countCharacters, quoteAll, scorePresent, textsOf, textsParam } from './text-params.ts';

const expected: ParamSpec = {
  schema: { type: ['string', 'number', 'boolean'] },
  required: true,
  description: 'The expected text; a number or a boolean stands for its JSON text.',
};

const comparisonParams: Readonly<Record<string, ParamSpec>> = {
  ignore_case: { schema: { type: 'boolean' }, default: false, description: 'Whether to ignore case.' },
  trim: {
    schema: { type: 'boolean' },
    default: false,
    description: 'Whether to ignore white space at both ends.',
  },
};

const equals: Check = {
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
    return isEqual ? scored(1, 'is the expected text') : scored(0, 'is not the expected text');
  },
};

const startsWith: Check = {
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
    return isStart ? scored(1, 'starts as expected') : scored(0, 'does not start as expected');
  },
};

const levenshtein: Check = {
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
    if (content.length * wanted.length > MAX_CELLS) return unscored('the texts are too long to compare');
    const edits = countEdits(content, wanted);
    const longest = Math.max(countCharacters(content), countCharacters(wanted), 1);
    return scored(
      (longest - edits) / longest,
      `${edits} edits in ${longest} characters`,
      Json.from({ edits, longest }),
    );
  },
};

/** Two texts of about 30,000 characters, which take a tenth of a second. */
const MAX_CELLS = 1_000_000_000;

function normalize(text: string, { ignore_case, trim }: Params): string {
  const composed = (trim === true ? text.trim() : text).normalize('NFC');
  return ignore_case === true ? composed.toUpperCase() : composed;
}

function findInexactNumber({ expected: wanted }: Params): { param: string; message: string }[] {
  if (typeof wanted !== 'number' || !Number.isInteger(wanted) || Number.isSafeInteger(wanted)) return [];
  return [{ param: 'expected', message: 'is a number that is too long to compare; write it as text' }];
}

/** The library counts UTF-16 units, so each code point is mapped to one unit. */
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

const minLength: Check = {
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

const maxLength: Check = {
  type: 'max_length',
  aliases: ['length'],
  family: 'text',
  summary: 'Whether the content is short enough; a longer one scores limit / length, the lower of the two.',
  range: 'ratio',
  params: {
    max: charactersParam('max'),
    max_tokens: {
      schema: { type: 'integer', minimum: 1 },
      description: 'The number of tokens, at four characters per token.',
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
    description: 'The number of characters (Unicode code points).',
  };
}

const scopeParam: ParamSpec = {
  schema: { enum: ['conversation', 'content'] },
  default: 'conversation',
  description:
    'Whether the check also judges every answer of the model in `context.messages`, or only the content.',
};

function judgedTexts({ content, context }: EvalRequest, params: Params): readonly string[] {
  if (params['scope'] === 'content') return [content];
  const answers = context.messages
    .filter(({ role }) => role === 'assistant')
    .map((message) => message.content);
  return [...new Set([content, ...answers])];
}

const contentExcludes: Check = createExclusionCheck({
  type: 'content_excludes',
  aliases: ['content_not_includes'],
  summary: 'Whether no answer of the model contains any of the patterns, in any case.',
  mode: 'substring',
  example: { params: { patterns: ['refund'] }, content: 'We refunded you.', score: 0 },
});

const bannedWords: Check = createExclusionCheck({
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
        description: 'Texts that must not appear.',
      },
      match_mode: {
        schema: { enum: ['substring', 'word_boundary'] },
        default: mode,
        description:
          'Whether a pattern counts anywhere, or only as a whole word: without a letter, digit or `_` beside it, or in scripts without spaces, by a dictionary.',
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

const contains: Check = {
  type: 'contains',
  aliases: ['content_includes'],
  family: 'text',
  summary: 'The share of the patterns that the content contains, in any case.',
  range: 'ratio',
  params: { patterns: { schema: textsParam, required: true, description: 'Texts to look for.' } },
  example: {
    params: { patterns: ['Oslo', 'Bergen'] },
    content: 'The train leaves oslo at nine.',
    score: 0.5,
  },
  run: ({ params, request }) => scorePresent(request.content, textsOf(params, 'patterns')),
};

const containsAny: Check = {
  type: 'contains_any',
  aliases: ['content_includes_any'],
  family: 'text',
  summary: 'Whether an answer of the model contains one of the patterns, in any case.',
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

const fieldPresence: Check = {
  type: 'field_presence',
  aliases: ['required_fields'],
  family: 'text',
  summary: 'The share of the field names that the content contains, in any case and anywhere.',
  range: 'ratio',
  params: { fields: { schema: textsParam, required: true, description: 'Names to look for.' } },
  example: {
    params: { fields: ['name', 'email', 'phone'] },
    content: 'Name: Ada\nEmail: ada@example.com\nPhone: none',
    score: 1,
  },
  run: ({ params, request }) => scorePresent(request.content, textsOf(params, 'fields')),
};

const cosineSimilarity: Check = {
  type: 'cosine_similarity',
  aliases: [],
  family: 'text',
  summary:
    'The cosine between the embedding in `context.metadata.embedding` and the reference; 0 if it is negative.',
  range: '0..1',
  params: {
    reference: {
      schema: { anyOf: [{ type: 'array', items: { type: 'number' }, minItems: 1 }, { type: 'string' }] },
      required: true,
      description: 'An embedding. A text leaves the eval unscored: `similarity` embeds texts.',
    },
    min_similarity: {
      schema: { type: 'number', minimum: -1, maximum: 1 },
      description: 'Only shown in the detail; the threshold decides what passes.',
    },
  },
  example: { params: { reference: [1, 0] }, context: { metadata: { embedding: [3, 4] } }, score: 0.6 },
  run: scoreSimilarity,
};

function scoreSimilarity({ params: { reference, min_similarity }, request }: CheckInput): EvalOutcome {
  if (typeof reference === 'string') {
    return unscored('`reference` is text; give a list of numbers, or use `similarity`, which embeds it');
  }
  const one = toVector(request.context.metadata['embedding']);
  const other = toVector(reference);
  if (one === undefined) return unscored('`context.metadata.embedding` is not a list of numbers');
  if (other === undefined) return unscored('`reference` is not a list of numbers');
  const similarity = cosine(one, other);
  if (typeof similarity === 'string') return unscored(similarity);
  const wanted = min_similarity === undefined ? '' : `, at least ${min_similarity}`;
  return scored(
    Math.max(0, similarity),
    `similarity ${similarity.toFixed(4)}${wanted}`,
    Json.from({ similarity }),
  );
}

function toVector(value: unknown): readonly number[] | undefined {
  const plain = Array.isArray(value) || value instanceof Json ? toPlainTree(value) : undefined;
  return Array.isArray(plain) && plain.every((item) => typeof item === 'number') ? plain : undefined;
}

const refusal: Check = {
  type: 'refusal',
  aliases: ['is_refusal'],
  family: 'text',
  summary:
    'Whether the content begins like an English refusal: “I can’t help with that”, “I’m sorry, but …”, “As an AI …”. Only the wording counts, so a polite answer can match and an unusual refusal not; `llm_judge` judges the meaning.',
  range: '0 or 1',
  params: {},
  example: { params: {}, content: 'I’m sorry, but I can’t help with that.', score: 1 },
  run: ({ request }) => {
    const start = foldText(request.content.slice(0, START))
      .replaceAll(/[’‘]/g, "'")
      .replaceAll(/[\s*_#>"]+/g, ' ')
      .trim();
    const found = refusals.map((pattern) => pattern.exec(start)?.[0]).find((words) => words !== undefined);
    return found === undefined
      ? scored(0, 'does not begin with a refusal')
      : scored(1, `refuses: ${JSON.stringify(shorten(found))}`);
  },
};

/** A refusal is in the first sentences. In UTF-16 code units. */
const START = 400;

const cannot = `(?:can(?:not|'t| not)|could(?:n't| not)|won't|will not|(?:am|'m) (?:not able|unable|not allowed|not permitted|not going|not comfortable)|must decline|have to decline|(?:would|'d) rather not|refuse)`;
const help = String.raw`(?:to )?(?:\w+ ){0,3}(?:help|assist|provide|answer|comply|fulfil+|do|write|create|generate|give|support|engage|discuss|share|offer|participate|continue|process|proceed)\b`;

const refusals: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:i|we) ?${cannot} ${help}`, 'i'),
  /^(?:i'm|i am|we're|we are)?\s?(?:very |so |really |truly )?(?:sorry|afraid),? (?:but |that )?(?:i|we|this|that|it)\b(?: \w+){0,2} ?(?:can(?:not|'t)|not|n't|unable|against)/i,
  /\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b[^.]{0,80}\b(?:can(?:not|'t)|unable|not|don't|won't)/i,
  /\b(?:i|we) (?:must|have to|need to) (?:respectfully |politely )?(?:decline|refuse)\b/i,
  /\b(?:goes|is|would be) against (?:my|our|the) (?:\w+ )?(?:guidelines|polic(?:y|ies)|programming|principles|rules)/i,
  /\b(?:my|our) (?:guidelines|polic(?:y|ies)|programming) (?:does not|do not|doesn't|don't|prohibits?|prevents?)/i,
];

const regex: Check = {
  type: 'regex',
  aliases: ['content_matches'],
  family: 'text',
  summary: 'Whether the pattern matches in the content.',
  range: '0 or 1',
  params: {
    pattern: {
      schema: { type: 'string', minLength: 1 },
      required: true,
      description: 'A regular expression of JavaScript; it can begin with `(?i)`, `(?s)` or `(?m)`.',
    },
    expect_match: {
      schema: { type: 'boolean' },
      default: true,
      description: 'false: the pattern must not match.',
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

export const textChecks: readonly Check[] = [
  contains,
  containsAny,
  contentExcludes,
  bannedWords,
  regex,
  minLength,
  maxLength,
  sentenceCount,
  fieldPresence,
  cosineSimilarity,
  equals,
  startsWith,
  levenshtein,
  refusal,
];
