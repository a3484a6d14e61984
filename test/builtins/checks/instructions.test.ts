import { describe, expect, test } from 'vitest';
import { findParamProblems } from '../../../src/builtins/checks/params.ts';
import { ask, scoreOf } from './asking.ts';
import { ifevalCases } from './ifeval-cases.ts';

describe.each(Object.entries(ifevalCases))(
  '%s, as IFEval’s own tests have it [DS-CHECKS-01]',
  (type, rows) => {
    test.each(rows)('%j with %j: %d', async (content, params, score) => {
      expect(await scoreOf(type, { content, params: { ...params } })).toBe(score);
    });
  },
);

/** Cases in which we differ from the reference, or that its tests leave open. */
const ours: Readonly<Record<string, readonly (readonly [string, object, number | string])[]>> = {
  'keywords:existence': [
    ['It costs $5.', { keywords: ['$5.'] }, 1],
    ['It costs 55', { keywords: ['5.'] }, 0],
    ['CAFÉ', { keywords: ['cafe\u0301'] }, 1],
  ],
  'keywords:forbidden_words': [
    ['She likes C++ a lot.', { forbidden_words: ['c++'] }, 0],
    ['überall', { forbidden_words: ['ber'] }, 1],
    ['generate, gene', { forbidden_words: ['gene'] }, 0],
  ],
  'length_constraints:number_words': [
    ['हिन्दी में लिखो', { num_words: 4, relation: 'less than' }, 1],
    ['𝐛𝐨𝐥𝐝 words', { num_words: 2 }, 1],
  ],
  'length_constraints:nth_paragraph_first_word': [
    ['One\r\n\r\n\r\n\r\nTwo', { num_paragraphs: 2, nth_paragraph: 2, first_word: 'two' }, 1],
    ['One', { num_paragraphs: 1, nth_paragraph: 2, first_word: 'One' }, 0],
  ],
  'language:response_language': [
    ['Der Zug fährt um neun Uhr ab.', { language: 'de-CH' }, 1],
    ['12 + 30', { language: 'en' }, 'the content has too few words to detect its language'],
    ['', { language: 'en' }, 0],
  ],
  'detectable_format:json_format': [
    ['NaN', {}, 0],
    ['```\n[1, 2]\n```', {}, 1],
    ['Here it is: {}', {}, 0],
  ],
  'detectable_format:number_bullet_lists': [['*\n* one\n**bold**\n---', { num_bullets: 2 }, 1]],
  'startend:end_checker': [['"Say goodbye"', { end_phrase: 'goodbye"' }, 1]],
  'startend:quotation': [['"', {}, 0]],
  'punctuation:no_comma': [
    ['', {}, 0],
    ['Sure, here:\nNo more of them', {}, 0],
    ['Sure, here:\nNo more of them', { loose: true }, 1],
  ],
  'keywords:letter_frequency': [['👍👍', { letter: '👍', let_frequency: 2 }, 1]],
};

describe.each(Object.entries(ours))('%s, decided by us', (type, rows) => {
  test.each(rows)('%j with %j: %s', async (content, params, score) => {
    expect(await scoreOf(type, { content, params: { ...params } })).toBe(score);
  });
});

describe('ifeval', () => {
  const row = {
    instruction_id_list: ['punctuation:no_comma', 'detectable_format:number_highlighted_sections'],
    kwargs: [
      { num_highlights: null, relation: null },
      { num_highlights: 1, relation: null },
    ],
  };

  test('accepts a row of the dataset unchanged, nulls included', async () => {
    const outcome = await ask('ifeval', { params: row, content: '*All* of it' });
    expect(outcome).toMatchObject({ status: 'scored', score: 1, detail: '2 of 2 rules' });
    expect(await scoreOf('ifeval', { params: row, content: '*All*, of it' })).toBe(0.5);
  });

  test('what a rule cannot use leaves it unscored', async () => {
    const params = { ...row, kwargs: [{}, {}] };
    expect(await scoreOf('ifeval', { params, content: 'x' })).toContain('not valid');
  });

  test('suggests the nearest name', () => {
    expect(findParamProblems('ifeval', { instruction_id_list: ['punctuation:no_coma'] })).toEqual([
      {
        path: ['instruction_id_list'],
        message: 'has the unknown rule "punctuation:no_coma"; did you mean `punctuation:no_comma`?',
      },
    ]);
  });
});

describe('language', () => {
  test('reports how much of a long text is in a language', async () => {
    const german = 'Der Zug fährt jeden Morgen um neun Uhr ab und kommt am Abend an. '.repeat(60);
    const english = 'The train leaves at nine each morning and arrives in the evening. '.repeat(60);
    const share = await scoreOf('language', { params: { language: 'de' }, content: german + english });
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.7);
    expect(
      await scoreOf('language', { params: { languages: ['de', 'en'] }, content: german + english }),
    ).toBe(1);
  });

  test('is unscored of what has no words', async () => {
    expect(await scoreOf('language', { params: { language: 'de' }, content: '42' })).toContain(
      'too few words',
    );
  });
});

describe('expensive content', () => {
  const megabyte = 1_000_000;
  const contents = ['[', '<', '*', '"', 'P.', '`', '你', ' ', '\n', 'a', '\ud800'].map((text) =>
    text.repeat(megabyte / text.length),
  );
  const rules: readonly (readonly [string, object])[] = Object.entries(ifevalCases).map(([type, rows]) => [
    type,
    rows[0]?.[1] ?? {},
  ]);

  test.each(rules)('%s with %j ends for a megabyte of one character', async (type, params) => {
    for (const content of contents) {
      const { status } = await ask(type, { content, params: { ...params, loose: true } });
      expect(['scored', 'unscored']).toContain(status);
    }
  });

  test('of more, it is unscored [DS-CHECKS-02]', async () => {
    const content = 'x'.repeat(60_000_000);
    expect(await scoreOf('punctuation:no_comma', { content })).toBe(
      'the content is longer than 1000000 characters',
    );
    const language = await ask('language', { content, params: { language: 'en' } });
    expect(['scored', 'unscored']).toContain(language.status);
  });
});
