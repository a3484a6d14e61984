import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../src/base/json/json.ts';
import { newElementScanner, readJson } from '../../../src/suites/dataset/json.ts';
import { cutBytes, readFile, summarize } from './support.ts';

const read = async (content: string | Uint8Array) => (await readFile('rows.json', content)).map(summarize);

const whole = [
  {
    title: 'a list',
    content: '[{"a":1},{"a":2}]',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 1, '{"a":2}'],
    ],
  },
  {
    title: 'a list over several lines, each row at the line where it begins',
    content: '\n[\n  {\n    "a": 1\n  },\n\n  {"a": 2}\n]\n',
    rows: [
      [1, 3, '{"a":1}'],
      [2, 7, '{"a":2}'],
    ],
  },
  { title: 'an empty list', content: ' [ ] ', rows: [] },
  { title: 'nothing', content: '\n', rows: [] },
  {
    title: 'brackets, commas and quotes inside of text',
    content: '[{"a":"}],{[\\"\\\\"},{"b":["]",{"c":"\\\\\\""}]}]',
    rows: [
      [1, 1, '{"a":"}],{[\\"\\\\"}'],
      [2, 1, '{"b":["]",{"c":"\\\\\\""}]}'],
    ],
  },
  {
    title: 'numbers with all their digits',
    content: '[{"id":12345678901234567890,"x":[0.10000000000000000001]}]',
    rows: [[1, 1, '{"id":12345678901234567890,"x":[0.10000000000000000001]}']],
  },
  { title: 'one object', content: '{\n"a":1}', rows: [[1, 1, '{"a":1}']] },
  {
    title: 'objects one after another',
    content: '{"a":1}\n{"a":2} {"a":\n3}{"a":4}',
    rows: [
      [1, 1, '{"a":1}'],
      [2, 2, '{"a":2}'],
      [3, 2, '{"a":3}'],
      [4, 3, '{"a":4}'],
    ],
  },
];

test.each(whole)('reads $title', async ({ content, rows }) => {
  expect(await read(content)).toEqual(rows);
});

test('elements that are not objects are invalid rows, and their neighbours are read', async () => {
  expect(await read('[1,\n"a]",\n[{"a":1}],\nnull,true,\n{"a":2},-1e3]')).toEqual([
    [1, 1, 'the element is not a JSON object'],
    [2, 2, 'the element is not a JSON object'],
    [3, 3, 'the element is a list'],
    [4, 4, 'the element is not a JSON object'],
    [5, 4, 'the element is not a JSON object'],
    [6, 5, '{"a":2}'],
    [7, 5, 'the element is not a JSON object'],
  ]);
});

test('an element that is not UTF-8 is an invalid row, and its neighbours are read', async () => {
  const content = Buffer.from('[{"a":1},{"a":"?"},{"a":3}]');
  content[15] = 0xff;
  expect(await read(content)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 1, 'the element is not valid UTF-8'],
    [3, 1, '{"a":3}'],
  ]);
});

test('a too deeply nested element is an invalid row, and its neighbours are read', async () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(await read(`[{"a":1},${deep},{"a":3}]`)).toEqual([
    [1, 1, '{"a":1}'],
    [2, 1, 'the element is nested too deeply'],
    [3, 1, '{"a":3}'],
  ]);
});

const broken = [
  {
    title: 'a comma that is missing',
    tail: '{"a":2}\n{"a":3}]',
    line: 3,
    reason: 'no comma between two elements',
  },
  { title: 'a comma too many', tail: ',{"a":3}]', line: 2, reason: 'a comma without an element after it' },
  {
    title: 'a comma at the end',
    tail: '{"a":2},\n]',
    line: 3,
    reason: 'a comma without an element after it',
  },
  { title: 'a list that is not closed', tail: '{"a":2}\n', line: 3, reason: 'the list is not closed' },
  { title: 'the end behind a comma', tail: '', line: 2, reason: 'the list is not closed' },
  {
    title: 'the end within an element',
    tail: '\n{"a":\n[2',
    line: 3,
    reason: 'the element that starts here does not end',
  },
  {
    title: 'the end within a text',
    tail: '{"a":"]\n',
    line: 2,
    reason: 'the element that starts here does not end',
  },
  {
    title: 'text behind the list',
    tail: '{"a":2}]\n{"a":3}',
    line: 3,
    reason: /after the end of the list$/,
  },
  { title: 'another bracket', tail: '{"a":2]},{"a":3}]', line: 2, reason: /is not JSON: Expected ','/ },
  {
    title: 'a word',
    tail: '{"a":\n\nyes},{"a":3}]',
    line: 2,
    reason: /is not JSON: Unexpected token 'y'.*$/,
  },
  {
    title: 'a word for an element',
    tail: 'yes,{"a":3}]',
    line: 2,
    reason: /is not JSON: Unexpected token 'y'/,
  },
  { title: 'a stray brace', tail: '},{"a":3}]', line: 2, reason: /is not JSON: Unexpected token '}'/ },
];

test.each(broken)(
  '$title: gives the earlier rows, and one that reports where it broke',
  async ({ tail, line, reason }) => {
    const rows = await read(`[{"a":1},\n${tail}`);
    const before = rows.filter(([, , text]) => text.startsWith('{'));
    const prefix = 'the JSON is invalid here, and nothing after this was read: ';
    const [last] = rows.slice(before.length);
    expect(rows.length).toBe(before.length + 1);
    expect(before[0]).toEqual([1, 1, '{"a":1}']);
    expect(last).toEqual([before.length + 1, line, expect.stringMatching(/^the JSON is invalid here/)]);
    expect(last?.[2].replace(prefix, '')).toMatch(reason);
  },
);

test('a comma between objects without a list ends the reading', async () => {
  expect(await read('{"a":1},\n{"a":2}')).toEqual([
    [1, 1, '{"a":1}'],
    [2, 1, 'the JSON is invalid here, and nothing after this was read: a comma outside a list'],
  ]);
});

test('a too long element is not stored, and later ones are read', () => {
  const scanner = newElementScanner(7);
  const found = ['[{"a":1},{"a', '":\n"2"},{"a":', '3}]'].flatMap((chunk) =>
    scanner.push(Buffer.from(chunk)),
  );
  expect([...found, ...scanner.end()]).toEqual([
    { kind: 'element', line: 1, bytes: Buffer.from('{"a":1}') },
    { kind: 'element', line: 1, bytes: undefined },
    { kind: 'element', line: 2, bytes: Buffer.from('{"a":3}') },
  ]);
});

test('property: any objects in any layout are found, wherever the chunks end', async () => {
  const space = fc.constantFrom('', ' ', '\n', '\r\n\t');
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '[', '}', ',', '\n', 'é', '😀') });
  const value = fc.dictionary(
    text,
    fc.oneof(text, fc.integer(), fc.array(fc.oneof(text, fc.boolean(), fc.constant(null)))),
  );
  const layout = fc.record({
    values: fc.array(value),
    around: space,
    indent: fc.nat(2),
    isList: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(layout, fc.array(fc.nat(200)), async ({ values, around, indent, isList }, cuts) => {
      const texts = values.map((each) => `${around}${JSON.stringify(each, null, indent)}${around}`);
      const content = Buffer.from(
        isList ? `${around}[${texts.join(',') || around}]${around}` : texts.join(''),
      );
      const rows = await Array.fromAsync(readJson(cutBytes(content, cuts)));
      expect(rows.map(({ content: row }) => (row.usable ? stringifyJson(row.value) : row.problem))).toEqual(
        values.map((each) => JSON.stringify(JSON.parse(JSON.stringify(each)))),
      );
    }),
  );
});

test('property: no text is read past a break, or makes the reading fail', async () => {
  const text = fc.string({
    unit: fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '\n', '1', 'a'),
  });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(40)), async (content, cuts) => {
      const bytes = Buffer.from(content);
      const rows = await Array.fromAsync(readJson(cutBytes(bytes, cuts)));
      expect(rows).toEqual(await Array.fromAsync(readJson(cutBytes(bytes, []))));
      const breaks = rows.filter(
        ({ content: row }) => !row.usable && row.problem.message.includes('broken here'),
      );
      expect(breaks).toEqual(breaks.length === 0 ? [] : rows.slice(-1));
    }),
  );
});
