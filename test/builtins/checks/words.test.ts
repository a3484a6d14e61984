import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countWords, searchFolded } from '../../../src/base/text/words.ts';
import { scoreOf } from './asking.ts';

const unspaced = {
  Chinese: ['我们', '赌博', '今天', '银行', '毒品', '白痴', '朋友', '电话'],
  Japanese: ['馬鹿', 'です', '学校', '電話', '自殺', 'カタカナ', '友達'],
  Thai: ['คุณ', 'โง่', 'มาก', 'โรงเรียน', 'โทรศัพท์'],
} as const;
const spaced = ['idiot', 'Straße', 'дурак', 'बेवकूफ', 'أحمق', 'naïve', '바보'] as const;

/** Other spellings of the same words: full-width, with invisible characters, decomposed, in another case. */
const spellings: readonly ((text: string) => string)[] = [
  (text) => text.replaceAll(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  ...['\u00ad', '\u200b', '\u2060', '\ufeff', '\u180e', '\u034f', '\u0000'].map(
    (torn) => (text: string) =>
      Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment).join(torn),
  ),
  (text) => text.normalize('NFD'),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
];

const spelling = fc.constantFrom(...spellings);
const spacedText = fc.array(fc.constantFrom(...spaced), { minLength: 1, maxLength: 6 });

describe('words of scripts with spaces', () => {
  test('are found in every spelling, and only as whole words', () => {
    fc.assert(
      fc.property(spacedText, fc.constantFrom(...spaced), spelling, (words, banned, spell) => {
        const { hasWord } = searchFolded(spell(words.join(' ')));
        expect(hasWord(banned)).toBe(words.includes(banned));
        expect(searchFolded(spell(`${banned}${banned}`)).hasWord(banned)).toBe(false);
      }),
    );
  });

  test('are separated at spaces, whatever invisible characters they contain', () => {
    fc.assert(
      fc.property(spacedText, (words) => {
        expect(countWords(words.join(' '))).toBe(words.length);
        expect(countWords(words.map((word) => [...word].join('\u00ad')).join(' '))).toBe(words.length);
      }),
    );
  });
});

describe.each(Object.entries(unspaced))('words of %s', (_name, vocabulary) => {
  const text = fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 6 });

  test('are found by dictionary boundaries, in every spelling', () => {
    fc.assert(
      fc.property(text, spelling, (words, spell) => {
        const joined = words.join('');
        const pieces = new Intl.Segmenter('en', { granularity: 'word' }).segment(joined);
        const segments = Array.from(pieces, ({ segment }) => segment);
        const { hasWord } = searchFolded(spell(joined));
        for (const segment of segments) expect(hasWord(segment)).toBe(true);
        expect(countWords(joined)).toBe(segments.length);
      }),
    );
  });

  test('end where another script begins', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('idiot', 'C', '42'), (words, banned) => {
        const [one = '', ...others] = words;
        expect(searchFolded(`${one}${banned}${others.join('')}`).hasWord(banned)).toBe(true);
        expect(searchFolded(`${one}x${banned}`).hasWord(banned)).toBe(false);
      }),
    );
  });
});

test('a word inside another does not count', () => {
  expect(searchFolded('東京都に住む').hasWord('京都')).toBe(false);
  expect(searchFolded('ควายควัน').hasWord('วาย')).toBe(false);
});

test('text that folds to nothing is searched unchanged', () => {
  expect(searchFolded('a\u200bb').has('\u200b')).toBe(true);
  expect(searchFolded('ab').has('\u200b')).toBe(false);
  expect(searchFolded('ab').hasWord('\u00ad')).toBe(false);
});

const readers: readonly (readonly [
  type: string,
  params: Record<string, unknown>,
  good: string,
  bad: string,
])[] = [
  ['banned_words', { words: ['idiot', '赌博'] }, '我们 are fine', '我们去赌博吧'],
  ['banned_words', { words: ['idiot'] }, 'idiotic', 'an idiot'],
  ['content_excludes', { patterns: ['idiot'] }, 'fine', 'idiotic'],
  ['keywords:forbidden_words', { forbidden_words: ['馬鹿'] }, 'これは本です', 'これは馬鹿です'],
  ['contains', { patterns: ['Oslo', '北京'] }, 'Oslo和北京', 'Bergen'],
  ['contains_any', { patterns: ['Oslo'] }, 'Oslo', 'Bergen'],
  ['keywords:existence', { keywords: ['Oslo'] }, 'in Oslo', 'Bergen'],
  ['keywords:frequency', { keyword: 'Oslo', frequency: 2 }, 'Oslo Oslo', 'Oslo'],
  ['exact_match', { expected: '東京 Oslo' }, '東京Oslo', '京都'],
  ['token_f1', { expected: '我们去北京' }, '我们去北京', '你们来东京'],
  ['rouge', { expected: '我们去北京 by train' }, '我们去北京by train', '你们来东京'],
  ['choice', { expected: 'B' }, '答案是B', '答案是C'],
  ['choice', { expected: 'B' }, '我选择B，因为它更大', '我选择D，因为它更大'],
  ['choice', { expected: '馬鹿', choices: ['馬鹿', '天才'] }, 'これは馬鹿です', 'これは天才です'],
  ['length_constraints:number_words', { num_words: 4, relation: 'at least' }, '我们去赌博吧', '我们'],
  [
    'length_constraints:nth_paragraph_first_word',
    { num_paragraphs: 1, nth_paragraph: 1, first_word: '我们' },
    '我们去北京',
    '北京欢迎我们',
  ],
  ['refusal', {}, 'I can’t help with that.', 'Gladly.'],
];

describe('every word check reads each spelling alike', () => {
  test.each(readers)('%s %j', async (type, params, good, bad) => {
    // `choice` distinguishes case, because a choice is one letter.
    for (const spell of [(text: string) => text, ...spellings.slice(0, -2)]) {
      expect(await scoreOf(type, { params, content: spell(good) })).toBe(1);
      expect(await scoreOf(type, { params, content: spell(bad) })).toBeLessThan(1);
    }
  });
});

test('BLEU and ROUGE of texts without spaces count words', async () => {
  const expected = '我们今天去北京看朋友';
  const near = { params: { expected }, content: '我们今天去东京看朋友' };
  expect(await scoreOf('rouge', near)).toBeCloseTo(5 / 6, 4);
  expect(await scoreOf('bleu', near)).toBeGreaterThan(0.3);
  expect(await scoreOf('bleu', { params: { expected }, content: expected })).toBe(1);
});
