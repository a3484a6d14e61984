import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { type Asking, ask, scoreOf } from './asking.ts';

type Row = readonly [title: string, asking: Asking, score: number | string];

function judges(type: string, rows: readonly Row[]): void {
  describe(type, () => {
    test.each(rows)('%s', async (_title, asking, score) => {
      expect(await scoreOf(type, asking)).toBe(score);
    });
  });
}

const earlier: readonly ChatMessage[] = [
  { role: 'user', content: 'secret' },
  { role: 'assistant', content: 'It is forbidden.' },
  { role: 'assistant', content: 'You are welcome.' },
];
const afterOthers = (params: Asking['params'] = {}): Asking => ({
  params,
  content: 'You are welcome.',
  context: { messages: earlier },
});

for (const type of ['contains', 'content_includes']) {
  judges(type, [
    ['all of them', { params: { patterns: ['one', 'two'] }, content: 'one, two' }, 1],
    [
      'some of them, in any case',
      { params: { patterns: ['ONE', 'Two', 'three', 'four'] }, content: 'One two' },
      0.5,
    ],
    ['none of them', { params: { patterns: ['three'] }, content: 'one' }, 0],
    ['nothing in an empty text', { params: { patterns: ['a'] } }, 0],
    ['letters in either spelling', { params: { patterns: ['caf\u00e9'] }, content: 'CAFE\u0301' }, 1],
    ['sharp s and final sigma', { params: { patterns: ['STRASSE', 'ΟΔΟΣ'] }, content: 'Straße, οδος' }, 1],
    ['what other answers say does not count', afterOthers({ patterns: ['forbidden'] }), 0],
  ]);
}

for (const type of ['contains_any', 'content_includes_any']) {
  judges(type, [
    ['one of them', { params: { patterns: ['three', 'TWO'] }, content: 'one two' }, 1],
    ['none of them', { params: { patterns: ['three'] }, content: 'one two' }, 0],
    ['nothing in an empty text', { params: { patterns: ['a'] } }, 0],
    ['one in an earlier answer', afterOthers({ patterns: ['forbidden'] }), 1],
    ['one that only the user said', afterOthers({ patterns: ['secret'] }), 0],
    [
      'one in an earlier answer, which is not asked for',
      afterOthers({ patterns: ['forbidden'], scope: 'content' }),
      0,
    ],
  ]);
}

for (const type of ['content_excludes', 'content_not_includes']) {
  judges(type, [
    ['none of them', { params: { patterns: ['three'] }, content: 'one two' }, 1],
    ['one of them, in any case', { params: { words: ['three', 'TWO'] }, content: 'one two' }, 0],
    ['one within a word', { params: { patterns: ['ass'] }, content: 'The class' }, 0],
    ['an empty text', { params: { patterns: ['a'] } }, 1],
    ['one in an earlier answer', afterOthers({ patterns: ['forbidden'] }), 0],
    ['one that only the user said', afterOthers({ patterns: ['secret'] }), 1],
    [
      'one in an earlier answer, which is not asked for',
      afterOthers({ patterns: ['forbidden'], scope: 'content' }),
      1,
    ],
  ]);
}

judges('banned_words', [
  ['a word within another', { params: { words: ['ass'] }, content: 'The class assembled' }, 1],
  ['the word itself', { params: { patterns: ['ASS'] }, content: 'My ass!' }, 0],
  ['the word after it stood within another', { params: { words: ['ass'] }, content: 'class ass' }, 0],
  [
    'a word that starts with a letter beyond ASCII',
    { params: { words: ['über'] }, content: 'Das ist ÜBER alles' },
    0,
  ],
  ['a word that goes on with a letter beyond ASCII', { params: { words: ['na'] }, content: 'naïve naç' }, 1],
  [
    'a word that goes on with a letter outside of the first plane',
    { params: { words: ['na'] }, content: 'na𝐱' },
    1,
  ],
  ['a word that a letter beyond ASCII goes before', { params: { words: ['ass'] }, content: 'Éass 𝐱ass' }, 1],
  ['a word that ends with a sign', { params: { words: ['C++'] }, content: 'I like C++.' }, 0],
  [
    'a part of a word, where that is wanted',
    { params: { words: ['ass'], match_mode: 'substring' }, content: 'class' },
    0,
  ],
]);

for (const type of ['regex', 'content_matches']) {
  judges(type, [
    ['a pattern that is found', { params: { pattern: '^a+$' }, content: 'aaa' }, 1],
    ['a pattern that is not found', { params: { pattern: '^a+$' }, content: 'aab' }, 0],
    [
      'a pattern that is not to be found',
      { params: { pattern: '^a+$', expect_match: false }, content: 'aab' },
      1,
    ],
    [
      'a pattern that is not to be found and is',
      { params: { pattern: 'a', expect_match: false }, content: 'a' },
      0,
    ],
    [
      'a pattern that cannot be used',
      { params: { pattern: '(' } },
      `the params of ${type} are not valid: pattern is not a valid JavaScript pattern: /(/: Unterminated group (to match a special character itself, write it in brackets, such as [(])`,
    ],
  ]);
}

judges('min_length', [
  ['long enough', { params: { min: 3 }, content: 'abc' }, 1],
  ['too short', { params: { min_characters: 4 }, content: 'abc' }, 0.75],
  ['empty', { params: { min_chars: 4 } }, 0],
  ['code points, not bytes or units [PK-10-04]', { params: { min: 4 }, content: '🙂é' }, 0.5],
]);

for (const type of ['max_length', 'length']) {
  judges(type, [
    ['short enough', { params: { max: 3 }, content: 'abc' }, 1],
    ['too long', { params: { max_characters: 3 }, content: 'abcd' }, 0.75],
    ['empty', { params: { max_chars: 3 } }, 1],
    ['code points, not bytes or units', { params: { max: 2 }, content: '🙂é' }, 1],
    ['few enough tokens', { params: { max_tokens: 2 }, content: 'a'.repeat(11) }, 1],
    ['too many tokens', { params: { max_tokens: 2 }, content: 'a'.repeat(16) }, 0.5],
    ['the lower of both', { params: { max: 8, max_tokens: 3 }, content: 'a'.repeat(16) }, 0.5],
  ]);
}

for (const type of ['sentence_count', 'max_sentences']) {
  judges(type, [
    ['as many as may be', { params: { max: 2 }, content: 'One. Two!' }, 1],
    ['one too many [PK-10-05]', { params: { max: 2 }, content: 'One. Two! Three?' }, 0],
    ['the last one without an end', { params: { max: 1 }, content: 'One. Two' }, 0],
    ['ends in a row', { params: { max: 2 }, content: 'Really?! Yes...' }, 1],
    ['ends within quotes', { params: { max: 1 }, content: '"One." "Two."' }, 0],
    ['a number and an address', { params: { max: 1 }, content: 'It is 3.50 at example.com.' }, 1],
    ['no white space, as in Chinese', { params: { max: 1 }, content: '你好。再见！' }, 0],
    ['nothing', { params: { max: 0 }, content: ' ' }, 1],
    ['signs alone', { params: { max: 0 }, content: '...' }, 0],
  ]);
}

for (const type of ['field_presence', 'required_fields']) {
  judges(type, [
    ['all fields', { params: { fields: ['Name', 'e-mail'] }, content: '{"name": 1, "E-Mail": 2}' }, 1],
    ['one of two fields', { params: { fields: ['name', 'phone'] }, content: 'Name: Ada' }, 0.5],
    ['no field', { params: { fields: ['phone'] } }, 0],
  ]);
}

const embedded = (embedding: unknown, reference: unknown): Asking => ({
  params: { reference },
  context: { metadata: { embedding } },
});

judges('cosine_similarity', [
  ['the same direction', embedded([2, 0], [1, 0]), 1],
  ['halfway', embedded([3, 4], [1, 0]), 0.6],
  ['at right angles', embedded([0, 1], [1, 0]), 0],
  ['the opposite direction, which scores can tell no further', embedded([-1, 0], [1, 0]), 0],
  ['numbers that kept their digits', embedded(new Json('[3.0, 4.0000000000000000001]'), [1, 0]), 0.6],
  ['digits within a list', embedded([JSON.rawJSON('3.0'), JSON.rawJSON('4.0')], [1, 0]), 0.6],
  ['no embedding', { params: { reference: [1] } }, '`context.metadata.embedding` is not a list of numbers'],
  [
    'an embedding of something else',
    embedded(['a'], [1]),
    '`context.metadata.embedding` is not a list of numbers',
  ],
  ['other dimensions', embedded([1, 2], [1]), 'the embeddings have different lengths: 2 and 1'],
  ['no direction', embedded([0, 0], [1, 0]), 'one of the embeddings has zero length or invalid numbers'],
  [
    'a text, which nobody can embed',
    embedded([1], 'Oslo'),
    '`reference` is text; give a list of numbers, or use `similarity`, which embeds it',
  ],
]);

judges('equals', [
  ['the same text', { params: { expected: 'Oslo' }, content: 'Oslo' }, 1],
  ['the same text in another spelling', { params: { expected: 'é' }, content: 'e\u0301' }, 1],
  ['another case', { params: { expected: 'oslo' }, content: 'Oslo' }, 0],
  [
    'another case, which does not matter',
    { params: { expected: 'oslo', ignore_case: true }, content: 'Oslo' },
    1,
  ],
  ['white space', { params: { expected: 'Oslo' }, content: ' Oslo\n' }, 0],
  ['white space, which does not matter', { params: { expected: 'Oslo', trim: true }, content: ' Oslo\n' }, 1],
  ['nothing', { params: { expected: '' } }, 1],
  ['a number', { params: { expected: 42 }, content: '42' }, 1],
  ['a truth', { params: { expected: true }, content: 'true' }, 1],
  [
    'a number that would lose its last digits',
    { params: { expected: JSON.rawJSON('12345678901234567890') }, content: '12345678901234567000' },
    'the params of equals are not valid: expected is a number that is too long to compare; write it as text',
  ],
]);

judges('starts_with', [
  ['the beginning', { params: { expected: 'Dear' }, content: 'Dear Ada' }, 1],
  ['the end', { params: { expected: 'Ada' }, content: 'Dear Ada' }, 0],
  [
    'the beginning but for case and white space',
    { params: { expected: 'dear', ignore_case: true, trim: true }, content: '\nDear' },
    1,
  ],
]);

judges('levenshtein', [
  ['the same text', { params: { expected: 'abc' }, content: 'abc' }, 1],
  ['one letter of four', { params: { expected: 'abcd' }, content: 'abxd' }, 0.75],
  ['nothing in common', { params: { expected: 'abc' }, content: 'xyz' }, 0],
  ['nothing at all', { params: { expected: '' } }, 1],
  ['code points, not units', { params: { expected: '🙂🙃' }, content: '🙂🙂' }, 0.5],
  [
    'too much to compare',
    { params: { expected: 'a'.repeat(40_000) }, content: 'b'.repeat(40_000) },
    'the texts are too long to compare',
  ],
]);

test('found and missing texts are reported', async () => {
  expect(await ask('contains', { params: { patterns: ['a', 'b"'] }, content: 'a' })).toEqual({
    status: 'scored',
    score: 0.5,
    detail: 'missing: "b\\""',
    data: Json.from({ found: 1, total: 2, missing: ['b"'] }),
  });
});

test.each([
  ['sentence_count', { max: 1 }, '.'.repeat(1_000_000)],
  ['sentence_count', { max: 1 }, '."'.repeat(500_000)],
  ['banned_words', { words: ['aa'] }, 'a'.repeat(1_000_000)],
  ['json_valid', { allow_wrapped: true, extract_json: true }, '`'.repeat(1_000_000)],
  ['json_valid', { allow_wrapped: true, extract_json: true }, `\`\`\`${'\n'.repeat(1_000_000)}`],
  ['json_valid', { extract_json: true }, '{'.repeat(1_000_000)],
  ['json_valid', { extract_json: true }, '["\\"'.repeat(300_000)],
] as const)(
  '%s of a text made to be slow ends at once',
  { timeout: 5_000 },
  async (type, params, content) => {
    expect(await ask(type, { params, content })).toMatchObject({ status: 'scored' });
  },
);
