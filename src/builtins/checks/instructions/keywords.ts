import { countText, searchFolded } from '../../../base/text/words.ts';
import type { Check, ParamProblem, Params } from '../check.ts';
import { countCharacters, quoteAll, textsOf, textsParam } from '../text/text-params.ts';
import { compareCount, countParam, instructionCheck, relationParam } from './instruction.ts';

const text = { type: 'string', pattern: '\\S' };

const existence = instructionCheck({
  type: 'keywords:existence',
  summary: 'Whether every keyword stands in the content, in any case.',
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
  summary: 'Whether a keyword stands often enough, or seldom enough, in the content, in any case.',
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
  summary: 'Whether none of the words stands in the content, in any case.',
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
  summary: 'Whether a letter stands often enough, or seldom enough, in the content, in any case.',
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

export const keywordChecks: readonly Check[] = [existence, frequency, forbiddenWords, letterFrequency];
