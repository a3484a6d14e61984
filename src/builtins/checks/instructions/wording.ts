import { foldCase } from '../../../base/text/words.ts';
import type { Check } from '../check.ts';
import { codeSchema, detectLanguages, languageOf } from './detect-language.ts';
import { compareCount, countParam, type Finding, instructionCheck, relationParam } from './instruction.ts';

const englishCapital = instructionCheck({
  type: 'change_case:english_capital',
  summary: 'Whether the content is English, and in capital letters alone.',
  params: {},
  example: { params: {}, content: 'THE TRAIN LEAVES AT NINE IN THE MORNING.', score: 1 },
  judge: (text) => judgeCase(text, /\p{Lu}/u, /\p{Ll}/u),
});

const englishLowercase = instructionCheck({
  type: 'change_case:english_lowercase',
  summary: 'Whether the content is English, and in small letters alone.',
  params: {},
  example: { params: {}, content: 'the train leaves at nine in the morning.', score: 1 },
  judge: (text) => judgeCase(text, /\p{Ll}/u, /\p{Lu}/u),
});

/** Words in capital letters; `WELL-KNOWN` and `DON’T` are one each. */
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
  summary: 'Whether the content is in a language, as `language` tells it.',
  params: {
    language: {
      schema: codeSchema,
      required: true,
      description: 'Its code of ISO 639-1, such as `de`; what stands behind a hyphen is passed over.',
    },
  },
  example: { params: { language: 'es' }, content: 'Desayunamos en casa y salimos a pasear.', score: 1 },
  judge: (text, { language }) => judgeLanguage(text, String(language)),
});

/** Whether a text is in that language. */
async function judgeLanguage(text: string, wanted: string): Promise<Finding> {
  const [most] = (await detectLanguages(text)) ?? [];
  if (most === undefined) return { unknown: 'the content has too few words to tell its language' };
  return { follows: most[0] === languageOf(wanted), detail: `is ${most[0]}` };
}

const quotation = instructionCheck({
  type: 'startend:quotation',
  summary: 'Whether the whole content stands in double quotation marks.',
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
    return { follows, detail: follows ? 'ends with it' : 'ends otherwise' };
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
    return { follows, detail: follows ? 'has two answers' : 'has not two different answers' };
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
    return { follows, detail: follows ? 'begins with the prompt' : 'begins otherwise' };
  },
});

export const wordingChecks: readonly Check[] = [
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
