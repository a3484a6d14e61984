import { countWords, foldCase, wordJoints } from '../../../base/text/words.ts';
import type { Check } from '../check.ts';
import { countSentences } from '../text/sentences.ts';
import { compareCount, countParam, type Finding, instructionCheck, relationParam } from './instruction.ts';

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
  summary: 'Whether the content has exactly that many paragraphs, with `***` between them.',
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
    'Whether the content has exactly that many paragraphs, with an empty line between them, and one of them begins with a word, in any case.',
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
  // In scripts without spaces a word may end within the run.
  const bare = run.startsWith(first) && wordJoints(run).has(first.length) ? first : run;
  return {
    follows: bare === first,
    detail: `begins with ${JSON.stringify(bare.slice(0, 100))}`,
  };
}

export const lengthChecks: readonly Check[] = [words, sentences, paragraphs, firstWord];
