import { isObject, Json } from '../../../base/json/json.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import { findNearest } from '../../../base/text/suggest.ts';
import { countText, countWords, foldCase, searchFolded, wordJoints } from '../../../base/text/words.ts';
import { findViolations } from '../../../base/yaml/violation.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamProblem, Params } from '../check.ts';
import { schemaOf } from '../check-schema.ts';
import { countSentences } from '../text/sentences.ts';
import { countCharacters, quoteAll, textsOf, textsParam } from '../text/text-params.ts';
import { formatChecks } from './format.ts';
import {
  compareCount,
  countParam,
  type Finding,
  instructionCheck,
  looseParam,
  relationParam,
} from './instruction.ts';

/**
 * Maps ISO 639-1 codes to shares of the text from 0 to 1, the largest first. Undefined for a text with too few words.
 * Samples twenty places of a long text.
 */
export async function detectLanguages(text: string): Promise<ReadonlyMap<string, number> | undefined> {
  const { eld } = await import('eld/small');
  const letters = new Map<string, number>();
  let total = 0;
  for (const place of placesOf(text)) {
    const { language } = eld.detect(place.toLowerCase());
    if (language === '') continue;
    letters.set(language, (letters.get(language) ?? 0) + place.length);
    total += place.length;
  }
  const byShare = [...letters].toSorted(([, one], [, other]) => other - one);
  return total === 0 ? undefined : new Map(byShare.map(([code, count]) => [code, count / total]));
}

/** The detector reads at most this much of a text. */
const PLACE_LENGTH = 900;
const MOST_PLACES = 20;

function placesOf(text: string): string[] {
  const count = Math.min(MOST_PLACES, Math.ceil(text.length / PLACE_LENGTH));
  const distance = count < MOST_PLACES ? PLACE_LENGTH : Math.floor(text.length / count);
  return Array.from({ length: count }, (_, at) =>
    text.slice(at * distance, at * distance + PLACE_LENGTH).replaceAll(/\s+/gu, ' '),
  );
}

/** Removes the region: `pt-BR` becomes `pt`. */
export function languageOf(code: unknown): string {
  return String(code).split('-', 1)[0] ?? '';
}

export const codeSchema = { type: 'string', pattern: '^[a-z]{2}(-[A-Za-z]{2,4})?$' } as const;

const englishCapital = instructionCheck({
  type: 'change_case:english_capital',
  summary: 'Whether the content is English, and only in capital letters.',
  params: {},
  example: { params: {}, content: 'THE TRAIN LEAVES AT NINE IN THE MORNING.', score: 1 },
  judge: (text) => judgeCase(text, /\p{Lu}/u, /\p{Ll}/u),
});

const englishLowercase = instructionCheck({
  type: 'change_case:english_lowercase',
  summary: 'Whether the content is English, and only in small letters.',
  params: {},
  example: { params: {}, content: 'the train leaves at nine in the morning.', score: 1 },
  judge: (text) => judgeCase(text, /\p{Ll}/u, /\p{Lu}/u),
});

function countCapitalWords(text: string): number {
  return text.split(/[^\p{L}\p{M}\p{N}_'’-]/u).filter((word) => /\p{Lu}/u.test(word) && !/\p{Ll}/u.test(word))
    .length;
}

async function judgeCase(text: string, wanted: RegExp, forbidden: RegExp): Promise<Finding> {
  const other = forbidden.exec(text)?.[0];
  if (other !== undefined) return { follows: false, detail: `has ${JSON.stringify(other)}` };
  if (!wanted.test(text)) return { follows: false, detail: 'has no letter of that case' };
  return judgeLanguage(text, 'en');
}

const capitalWords = instructionCheck({
  type: 'change_case:capital_word_frequency',
  summary: 'Whether the content has enough words in capital letters, or few enough.',
  params: { capital_frequency: countParam('How many words.'), capital_relation: relationParam },
  example: { params: { capital_frequency: 2 }, content: 'HERE they ARE.', score: 1 },
  judge: (text, { capital_frequency, capital_relation }) =>
    compareCount(countCapitalWords(text), capital_frequency, capital_relation, 'capital word'),
});

const responseLanguage = instructionCheck({
  type: 'language:response_language',
  summary: 'Whether the content is in a language, as `language` detects it.',
  params: {
    language: {
      schema: codeSchema,
      required: true,
      description: 'Its code of ISO 639-1, such as `de`; the part after a hyphen does not count.',
    },
  },
  example: { params: { language: 'es' }, content: 'Desayunamos en casa y salimos a pasear.', score: 1 },
  judge: (text, { language }) => judgeLanguage(text, String(language)),
});

async function judgeLanguage(text: string, wanted: string): Promise<Finding> {
  const [most] = (await detectLanguages(text)) ?? [];
  if (most === undefined) return { unknown: 'the content has too few words to detect its language' };
  return { follows: most[0] === languageOf(wanted), detail: `is ${most[0]}` };
}

const quotation = instructionCheck({
  type: 'startend:quotation',
  summary: 'Whether double quotation marks enclose the whole content.',
  params: {},
  example: { params: {}, content: '"All of it."', score: 1 },
  judge: (text) => {
    const bare = text.trim();
    const follows = bare.length > 1 && bare.startsWith('"') && bare.endsWith('"');
    return { follows, detail: follows ? 'is quoted' : 'is not quoted' };
  },
});

const endChecker = instructionCheck({
  type: 'startend:end_checker',
  summary: 'Whether the content ends with a phrase, in any case.',
  params: {
    end_phrase: { schema: { type: 'string', pattern: '\\S' }, required: true, description: 'The phrase.' },
  },
  example: {
    params: { end_phrase: 'Any other questions?' },
    content: 'It is 7. Any other questions?',
    score: 1,
  },
  judge: (text, { end_phrase }) => {
    const follows = foldCase(trimQuotes(text.trim())).endsWith(
      foldCase(trimQuotes(String(end_phrase).trim())),
    );
    return { follows, detail: follows ? 'ends with it' : 'has a different ending' };
  },
});

function trimQuotes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '"') end -= 1;
  return text.slice(0, end);
}

const noComma = instructionCheck({
  type: 'punctuation:no_comma',
  summary: 'Whether the content has no comma.',
  params: {},
  example: { params: {}, content: 'One sentence. And another.', score: 1 },
  judge: (text) => ({
    follows: !text.includes(','),
    detail: text.includes(',') ? 'has a comma' : 'has no comma',
  }),
});

const twoResponses = instructionCheck({
  type: 'combination:two_responses',
  summary: 'Whether the content is two different answers with `******` between them.',
  params: {},
  example: { params: {}, content: 'Yes.\n******\nNo.', score: 1 },
  judge: (text) => {
    const parts = text.split('******').map((part) => part.trim());
    const answers = parts.filter((part) => part !== '');
    const follows = !parts.slice(1, -1).includes('') && answers.length === 2 && answers[0] !== answers[1];
    return { follows, detail: follows ? 'has two answers' : 'does not have two different answers' };
  },
});

const repeatPrompt = instructionCheck({
  type: 'combination:repeat_prompt',
  summary: 'Whether the content begins with the prompt, in any case.',
  params: {
    prompt_to_repeat: {
      schema: { type: 'string', pattern: '\\S' },
      required: true,
      description: 'The prompt.',
    },
  },
  example: {
    params: { prompt_to_repeat: 'What is 2 + 2?' },
    content: 'What is 2 + 2? It is 4.',
    score: 1,
  },
  judge: (text, { prompt_to_repeat }) => {
    const follows = foldCase(text.trim()).startsWith(foldCase(String(prompt_to_repeat).trim()));
    return { follows, detail: follows ? 'begins with the prompt' : 'has a different beginning' };
  },
});

const wordingChecks: readonly Check[] = [
  englishCapital,
  englishLowercase,
  capitalWords,
  responseLanguage,
  quotation,
  endChecker,
  noComma,
  twoResponses,
  repeatPrompt,
];

const words = instructionCheck({
  type: 'length_constraints:number_words',
  summary: 'Whether the content has enough words, or few enough.',
  params: { num_words: countParam('How many words.'), relation: relationParam },
  example: { params: { num_words: 4, relation: 'less than' }, content: 'It is well-known.', score: 0 },
  judge: (text, { num_words, relation }) => compareCount(countWords(text), num_words, relation, 'word'),
});

const sentences = instructionCheck({
  type: 'length_constraints:number_sentences',
  summary: 'Whether the content has enough sentences, or few enough, as `sentence_count` counts them.',
  params: { num_sentences: countParam('How many sentences.'), relation: relationParam },
  example: { params: { num_sentences: 2 }, content: 'It costs 3.50. Really!', score: 1 },
  judge: (text, { num_sentences, relation }) =>
    compareCount(countSentences(text), num_sentences, relation, 'sentence'),
});

const paragraphs = instructionCheck({
  type: 'length_constraints:number_paragraphs',
  summary: 'Whether the content has exactly this number of paragraphs, with `***` between them.',
  params: { num_paragraphs: countParam('How many paragraphs.') },
  example: { params: { num_paragraphs: 2 }, content: 'One.\n***\nTwo.', score: 1 },
  judge: (text, { num_paragraphs }) => {
    const parts = text.split('***').map((part) => part.trim());
    if (parts.slice(1, -1).includes('')) return { follows: false, detail: 'a paragraph is empty' };
    return compareCount(parts.filter((part) => part !== '').length, num_paragraphs, 'exactly', 'paragraph');
  },
});

const firstWord = instructionCheck({
  type: 'length_constraints:nth_paragraph_first_word',
  summary:
    'Whether the content has exactly this number of paragraphs, with an empty line between them, and whether one of them begins with a given word, in any case.',
  params: {
    num_paragraphs: countParam('How many paragraphs.'),
    nth_paragraph: {
      schema: { type: 'integer', minimum: 1 },
      required: true,
      description: 'Which one, from 1.',
    },
    first_word: {
      schema: { type: 'string', pattern: '\\S' },
      required: true,
      description: 'Its first word.',
    },
  },
  example: {
    params: { num_paragraphs: 2, nth_paragraph: 2, first_word: 'then' },
    content: 'First it rained.\n\n“Then,” she said, “it snowed.”',
    score: 1,
  },
  judge: (text, { num_paragraphs, nth_paragraph, first_word }) => {
    const parts = text
      .split('\n\n')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    const counted = compareCount(parts.length, num_paragraphs, 'exactly', 'paragraph');
    return 'follows' in counted && counted.follows
      ? beginsWith(parts[Number(nth_paragraph) - 1] ?? '', String(first_word))
      : counted;
  },
});

function beginsWith(paragraph: string, wanted: string): Finding {
  const [word = ''] = foldCase(paragraph).split(/\s/u, 1);
  const run = word.replace(/^["'“‘「『《]+/u, '').split(/[.,?!'"’”。、」』》]/u, 1)[0] ?? '';
  const first = foldCase(wanted.trim());
  // In scripts without spaces, a word may end within the run.
  const bare = run.startsWith(first) && wordJoints(run).has(first.length) ? first : run;
  return {
    follows: bare === first,
    detail: `begins with ${JSON.stringify(bare.slice(0, 100))}`,
  };
}

const lengthChecks: readonly Check[] = [words, sentences, paragraphs, firstWord];

const text = { type: 'string', pattern: '\\S' };

const existence = instructionCheck({
  type: 'keywords:existence',
  summary: 'Whether the content contains every keyword, in any case.',
  params: {
    keywords: { schema: textsParam, required: true, description: 'Plain texts, also parts of words.' },
  },
  example: {
    params: { keywords: ['river', 'Mona Lisa'] },
    content: 'The Mona Lisa, by the RIVER.',
    score: 1,
  },
  judge: (content, params) => {
    const { has } = searchFolded(content);
    const missing = textsOf(params, 'keywords').filter((word) => !has(word));
    return {
      follows: missing.length === 0,
      detail: missing.length === 0 ? 'all were found' : `missing: ${quoteAll(missing)}`,
    };
  },
});

const frequency = instructionCheck({
  type: 'keywords:frequency',
  summary: 'Whether the content contains a keyword often enough, or rarely enough, in any case.',
  params: {
    keyword: { schema: text, required: true, description: 'A plain text, also a part of a word.' },
    frequency: countParam('How often.'),
    relation: relationParam,
  },
  example: { params: { keyword: 'fjord', frequency: 2 }, content: 'Fjord after fjord.', score: 1 },
  judge: (content, { keyword, frequency: wanted, relation }) =>
    compareCount(searchFolded(content).count(String(keyword).trim()), wanted, relation, 'time'),
});

const forbiddenWords = instructionCheck({
  type: 'keywords:forbidden_words',
  summary: 'Whether the content contains none of the words, in any case.',
  params: { forbidden_words: { schema: textsParam, required: true, description: 'Whole words.' } },
  example: { params: { forbidden_words: ['gene'] }, content: 'It is generative.', score: 1 },
  judge: (content, params) => {
    const { hasWord } = searchFolded(content);
    const found = textsOf(params, 'forbidden_words').filter((word) => hasWord(word));
    return {
      follows: found.length === 0,
      detail: found.length === 0 ? 'none was found' : `found: ${quoteAll(found)}`,
    };
  },
});

const letterFrequency = instructionCheck({
  type: 'keywords:letter_frequency',
  summary: 'Whether the content contains a letter often enough, or rarely enough, in any case.',
  params: {
    letter: { schema: text, required: true, description: 'One letter or sign.' },
    let_frequency: countParam('How often.'),
    let_relation: relationParam,
  },
  example: { params: { letter: 't', let_frequency: 4 }, content: 'There is the T. Four T’s.', score: 1 },
  findProblems: ({ letter }: Params): ParamProblem[] =>
    typeof letter === 'string' && countCharacters(letter.trim().normalize('NFC')) !== 1
      ? [{ param: 'letter', message: 'must be one letter' }]
      : [],
  judge: (content, { letter, let_frequency, let_relation }) =>
    compareCount(
      countText(content.normalize('NFC').toLowerCase(), String(letter).trim().normalize('NFC').toLowerCase()),
      let_frequency,
      let_relation,
      'time',
    ),
});

const keywordChecks: readonly Check[] = [existence, frequency, forbiddenWords, letterFrequency];

export const ruleChecks: readonly Check[] = [
  ...keywordChecks,
  ...lengthChecks,
  ...formatChecks,
  ...wordingChecks,
];

export const ifeval: Check = {
  type: 'ifeval',
  aliases: [],
  family: 'instructions',
  summary:
    'The share of the rules of an IFEval dataset row that the content follows. With the default threshold, the pass rate is its prompt-level accuracy.',
  range: 'ratio',
  params: {
    instruction_id_list: {
      schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
      required: true,
      description: 'The rules, by the names of the checks above.',
    },
    kwargs: {
      schema: { type: 'array', items: { type: ['object', 'null'] } },
      default: [],
      description: 'The params of each; null values and params of other rules have no effect.',
    },
    loose: looseParam,
  },
  example: {
    params: {
      instruction_id_list: ['punctuation:no_comma', 'length_constraints:number_words'],
      kwargs: [{}, { num_words: 300, relation: 'at least' }],
    },
    content: 'Short and without a comma.',
    score: 0.5,
  },
  findProblems: findUnknownRules,
  run: scoreRules,
};

function findUnknownRules({ instruction_id_list: ids }: Params): readonly ParamProblem[] {
  if (!Array.isArray(ids)) return [];
  const types = ruleChecks.map(({ type }) => type);
  return ids
    .filter((id) => typeof id === 'string' && !types.includes(id))
    .map((id: string) => {
      const nearest = findNearest(id, types);
      const hint = nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
      return { param: 'instruction_id_list', message: `has the unknown rule ${JSON.stringify(id)}${hint}` };
    });
}

async function scoreRules(asked: CheckInput): Promise<EvalOutcome> {
  const { instruction_id_list: ids, kwargs, loose } = asked.params;
  if (!Array.isArray(ids) || !Array.isArray(kwargs)) return unscored('there are no rules');
  const rules: Record<string, boolean> = {};
  let followed = 0;
  for (const [index, id] of ids.entries()) {
    const check = ruleChecks.find(({ type }) => type === id);
    const params = check && paramsOf(check, kwargs[index], loose);
    if (check === undefined || params === undefined)
      return unscored(`the params of rule ${index}, ${String(id)}, are not valid`);
    const outcome = await check.run({ ...asked, params });
    if (outcome.status === 'unscored') return unscored(`${String(id)}: ${outcome.reason}`);
    if (outcome.score === 1) followed += 1;
    rules[`${index} ${String(id)}`] = outcome.score === 1;
  }
  const broken = Object.keys(rules).filter((rule) => !rules[rule]);
  const detail = `${followed} of ${formatCount(ids.length, 'rule')}${broken.length === 0 ? '' : `; not: ${broken.join(', ')}`}`;
  return scored(followed / ids.length, detail, Json.from(rules));
}

/** The dataset gives every rule every param; unused ones are null. */
function paramsOf(check: Check, given: unknown, loose: unknown): Params | undefined {
  const specs = Object.entries(check.params);
  const taken = isObject(given) ? given : {};
  const params = Object.fromEntries(
    specs
      .map(([name, spec]) => [name, taken[name] ?? spec.default] as const)
      .filter(([, value]) => value !== undefined),
  );
  const isComplete = specs.every(([name, spec]) => !spec.required || Object.hasOwn(params, name));
  if (!isComplete || findViolations(params, schemaOf(check)).length > 0) return undefined;
  return { ...params, loose };
}
