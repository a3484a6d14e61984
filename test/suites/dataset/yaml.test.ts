import { expect, test } from 'vitest';
import { readFile, summarize } from './support.ts';

const read = async (content: string | Uint8Array) => (await readFile('rows.yaml', content)).map(summarize);

const whole = [
  {
    title: 'a list',
    content:
      '# rows\n- id: 1\n  text: |\n    two\n    lines\n\n# one more\n- {id: 2, tags: [a, 0x10, yes, ~]}\n',
    rows: [
      [1, 2, '{"id":1,"text":"two\\nlines\\n"}'],
      [2, 8, '{"id":2,"tags":["a",16,"yes",null]}'],
    ],
  },
  { title: 'nothing', content: '', rows: [] },
  { title: 'comments alone', content: '# none\n', rows: [] },
  { title: 'an empty list', content: '[]', rows: [] },
  {
    title: 'a list in brackets',
    content: '[{a: 1},\n {a: 2}]',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 2, '{"a":2}'],
    ],
  },
  {
    title: 'several documents, mappings and lists, and empty ones that are no rows',
    content: 'a: 1\n---\n---\n- a: 2\n- a: 3\n--- {a: 4}\n...\n',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 4, '{"a":2}'],
      [3, 5, '{"a":3}'],
      [4, 6, '{"a":4}'],
    ],
  },
  {
    title: 'numbers with all their digits',
    content: '- {id: 12345678901234567890, x: 0.10000000000000000001, y: 1.50}',
    rows: [[1, 1, '{"id":12345678901234567890,"x":0.10000000000000000001,"y":1.5}']],
  },
  {
    title: 'aliases and merge keys, of which own keys win',
    content:
      '- &base {a: 1, b: &big 12345678901234567890}\n- {<<: *base, a: 2}\n- {a: 3, <<: [{c: 4}, *base]}\n- *base\n- {b: *big}\n',
    rows: [
      [1, 1, '{"a":1,"b":12345678901234567890}'],
      [2, 2, '{"a":2,"b":12345678901234567890}'],
      [3, 3, '{"c":4,"a":3,"b":12345678901234567890}'],
      [4, 4, '{"a":1,"b":12345678901234567890}'],
      [5, 5, '{"b":12345678901234567890}'],
    ],
  },
];

test.each(whole)('reads $title', async ({ content, rows }) => {
  expect(await read(content)).toEqual(rows);
});

const deep = `${'['.repeat(101)}${']'.repeat(101)}`;
const laughs = `{a: &a [${'x,'.repeat(100)}], b: &b [${'*a,'.repeat(100)}], c: &c [${'*b,'.repeat(100)}], d: [*c, *c]}`;

const unusable = [
  { title: 'a list', item: '[1]', message: 'the row is a list' },
  { title: 'a text', item: 'text', message: 'the row is not a mapping' },
  { title: 'a number', item: '12345678901234567890', message: 'the row is not a mapping' },
  { title: 'nothing', item: '', message: 'the row is not a mapping' },
  { title: 'a key twice', item: '{a: 1, b: 2, a: 3}', message: 'duplicate key `a` in one mapping' },
  {
    title: 'an unknown alias',
    item: '{a: *gone}',
    message: 'no anchor named &gone is defined above this alias',
  },
  {
    title: 'an alias of what it is in',
    item: '&self {a: [*self]}',
    message: 'the alias *self is inside its own anchor',
  },
  {
    title: 'a merge of no mapping',
    item: '{<<: text}',
    message: 'a merge key `<<` must have a mapping or a list of mappings',
  },
  {
    title: 'an infinite number',
    item: '{a: -.inf}',
    message: '-.inf is a number that JSON cannot represent',
  },
  { title: 'no number', item: '{a: .nan}', message: '.nan is a number that JSON cannot represent' },
  { title: 'deep nesting', item: `{a: ${deep}}`, message: 'the YAML is nested too deeply' },
  {
    title: 'aliases that grow beyond measure',
    item: laughs,
    message: 'the aliases expand to more than a million values',
  },
];

test.each(unusable)(
  'an item with $title is an invalid row, and its neighbours are read',
  async ({ item, message }) => {
    expect(await read(`- a: 1\n- ${item}\n- a: 3\n`)).toEqual([
      [1, 1, '{"a":1}'],
      [2, 2, message],
      [3, 3, '{"a":3}'],
    ]);
  },
);

test('a mistake inside a row is reported with its line', async () => {
  expect(await read('- a: 1\n  b:\n    c: *gone\n')).toEqual([
    [1, 3, 'no anchor named &gone is defined above this alias'],
  ]);
});

const broken = [
  { title: 'a key that is out of line', content: '- a: 1\n- a: 2\n   b: 3\n- a: 4\n', line: 2 },
  { title: 'a bracket that is not closed', content: '- a: 1\n- a: [2\n- a: 3\n', line: 3 },
  { title: 'a quote that is not closed', content: '- a: 1\n- a: "2\n- a: 3\n', line: 4 },
  { title: 'a document that is', content: '- a: 1\n---\n- a: *\n---\na: 4\n', line: 3 },
  { title: 'a list in brackets that ends', content: '[{a: 1},\n{a: ', line: 2 },
];

test.each(broken)(
  'broken $title: gives the earlier rows, and one that reports where',
  async ({ content, line }) => {
    expect(await read(content)).toEqual([
      [1, 1, '{"a":1}'],
      [2, line, expect.stringMatching(/^the YAML is invalid here, and nothing after this was read: /)],
    ]);
  },
);

test('a file that is not UTF-8 has no rows', async () => {
  expect(await read(Buffer.from('- a: \xff\n', 'latin1'))).toEqual([[1, 1, 'the file is not valid UTF-8']]);
});

test('more than 8 MiB is DATASET_INVALID', async () => {
  await expect(read(Buffer.alloc(8 * 1024 * 1024 + 1, '#'))).rejects.toThrow(
    expect.objectContaining({
      code: 'DATASET_INVALID',
      message: expect.stringMatching(
        /rows\.yaml is larger than 8 MiB, which is the limit for YAML datasets$/,
      ),
    }),
  );
});

test('an alias in every row is resolved in time linear in the rows', async () => {
  const rows = Array.from({ length: 3000 }, (_, index) => `- {<<: *base, id: ${index}}\n`);
  const read = await readFile('rows.yaml', `- &base {a: 1}\n${rows.join('')}`);
  expect(read.at(-1)?.content).toEqual({ usable: true, value: { a: 1, id: 2999 } });
});
