import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { parseDocument, readDocument } from '../../../src/base/yaml/document.ts';
import { folder, line, write } from '../../config/told.ts';

function read(text: string | Uint8Array) {
  return readDocument(write('document.yaml', text));
}

describe('positions', () => {
  const text = `hooks:
  guard: &guard
    command: "./a b.sh"
    args: [-v, 1.10, yes]
    env:
  other:
    <<: *guard
    runtime: server
  third: *guard
"quoted key": {flow: [x, {y: z}]}
`;
  const at = (line: number, column: number) => ({ file: join(folder, 'document.yaml'), line, column });

  test.each([
    { path: [], value: at(1, 1), key: at(1, 1) },
    { path: ['hooks'], value: at(2, 3), key: at(1, 1) },
    { path: ['hooks', 'guard'], value: at(3, 5), key: at(2, 3) },
    { path: ['hooks', 'guard', 'command'], value: at(3, 14), key: at(3, 5) },
    { path: ['hooks', 'guard', 'args', 1], value: at(4, 16), key: at(4, 16) },
    { path: ['hooks', 'guard', 'env'], value: at(5, 5), key: at(5, 5) },
    { path: ['hooks', 'guard', 'nothing', 'deeper'], value: at(3, 5), key: at(2, 3) },
    { path: ['hooks', 'guard', 'args', 7], value: at(4, 11), key: at(4, 5) },
    { path: ['hooks', 'guard', 'command', 'deeper'], value: at(3, 14), key: at(3, 5) },
    { path: ['hooks', 'other', 'command'], value: at(3, 14), key: at(3, 5) },
    { path: ['hooks', 'other', 'runtime'], value: at(8, 14), key: at(8, 5) },
    { path: ['hooks', 'third'], value: at(9, 10), key: at(9, 3) },
    { path: ['hooks', 'third', 'args', 0], value: at(4, 12), key: at(4, 12) },
    { path: ['quoted key', 'flow', 1, 'y'], value: at(10, 30), key: at(10, 27) },
  ])('of $path', ({ path, value, key }) => {
    const document = read(text);
    expect({ value: document.positionOf(path), key: document.keyPositionOf(path) }).toEqual({ value, key });
  });

  test('of a repeated key are those of the last one, whose value counts', () => {
    const document = read('a: 1\na: 2\n');
    expect([document.positionOf(['a']), document.keyPositionOf(['a'])]).toEqual([at(2, 4), at(2, 1)]);
  });

  test('a byte order mark shifts nothing', () => {
    expect(read('\uFEFFa: 1').positionOf(['a'])).toEqual(at(1, 4));
  });

  test('columns count from 1 after a line that ends in CR LF', () => {
    expect(read('a: 1\r\nb: 2\r\n').positionOf(['b'])).toEqual(at(2, 4));
  });
});

describe('values', () => {
  const variable = `$${'{HOME}'}`;

  test.each([
    { title: 'JSON is YAML [PK-9-02]', text: '{"a": [1, {"b": null}]}', value: { a: [1, { b: null }] } },
    {
      title: 'words of YAML 1.1 are words',
      text: 'a: [yes, off, 0777, 1:30]',
      value: { a: ['yes', 'off', 777, '1:30'] },
    },
    {
      title: 'merge keys, and lists of them [PK-9-02]',
      text: 'a: &a {x: 1, y: 1}\nb: &b {y: 2}\nc: {<<: [*b, *a], z: 3}',
      value: { a: { x: 1, y: 1 }, b: { y: 2 }, c: { y: 2, x: 1, z: 3 } },
    },
    {
      title: 'variables stay as they are [PK-9-03]',
      text: `a: $HOME/${variable}`,
      value: { a: `$HOME/${variable}` },
    },
    {
      title: 'keys are texts',
      text: '1.10: a\ntrue: b\nnull: c',
      value: { '1.10': 'a', true: 'b', null: 'c' },
    },
    {
      title: 'a key that objects inherit is a key',
      text: '{__proto__: 1, constructor: 2}',
      value: JSON.parse('{"__proto__": 1, "constructor": 2}'),
    },
    { title: 'an empty second document is none', text: 'a: 1\n---\n', value: { a: 1 } },
    { title: 'a document end is no second document', text: 'a: 1\n...\n# the end\n', value: { a: 1 } },
    {
      title: 'a hundred levels',
      text: `${'['.repeat(100)}${']'.repeat(100)}`,
      value: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`),
    },
    { title: 'a document of nothing is null', text: '---\n', value: null },
  ])('$title', ({ text, value }) => {
    const document = read(text);
    expect({ value: document.value, problems: document.problems }).toStrictEqual({ value, problems: [] });
  });

  test('a scalar keeps its spelling, through an alias too', () => {
    const document = read('a: [1.10, 0x1F, "q", ~, &v 007, *v]\nb: {}');
    const sources = [0, 1, 2, 3, 4, 5].map((index) => document.sourceOf(['a', index]));
    expect([...sources, document.sourceOf(['b']), document.sourceOf(['c'])]).toEqual([
      '1.10',
      '0x1F',
      'q',
      '~',
      '007',
      '007',
      undefined,
      undefined,
    ]);
  });

  test('keys keep the order of the file, which objects do not', () => {
    const document = read('m: {b: 1, 10: 1, 2: 1, <<: {a: 1, b: 2}, c: 1}\nl: [1]');
    const orders = [document.keysOf(['m']), document.keysOf(['l']), document.keysOf(['none'])];
    expect(orders).toEqual([['b', '10', '2', 'a', 'c'], [], []]);
  });
});

describe('problems', () => {
  test.each([
    {
      title: 'an empty file',
      text: '',
      problems: [
        'error 1:1 the file is empty | A config begins with `apiVersion: signalbox/v1` and `kind: RuntimeConfig`.',
      ],
    },
    {
      title: 'a file of comments',
      text: '# nothing\n',
      problems: [
        'error 1:1 the file is empty | A config begins with `apiVersion: signalbox/v1` and `kind: RuntimeConfig`.',
      ],
    },
    {
      title: 'several syntax errors at once, one for each line',
      text: 'a: [1,\nb: }\nc: "x\n',
      problems: ['error 1:4 YAML: `[` is opened here but never closed | Write `]` where the value ends.'],
    },
    {
      title: 'a tab as indentation',
      text: 'a:\n\tb: 1\n',
      problems: [
        'error 2:1 YAML: tabs are not allowed as indentation | Indent with spaces; YAML does not allow tabs.',
      ],
    },
    {
      title: 'a list as a key',
      text: '[a]: 1',
      problems: ['error 1:1 a key must be text, not a list or a mapping'],
    },
    {
      title: 'an alias without an anchor',
      text: 'a: *b',
      problems: ['error 1:4 no anchor named &b is defined above this alias'],
    },
    {
      title: 'an alias inside its anchor',
      text: 'a: &a\n  b: [*a]',
      problems: ['error 2:7 the alias *a is inside its own anchor'],
    },
    {
      title: 'a merge of something else',
      text: 'a: {<<: [1]}',
      problems: ['error 1:9 a merge key `<<` must have a mapping or a list of mappings'],
    },
    {
      title: 'nesting without end',
      text: '['.repeat(20_000),
      problems: [expect.stringMatching(/^error 1:\d+ the YAML is nested too deeply$/)],
    },
    {
      title: 'a hundred and one levels',
      text: `${'['.repeat(101)}${']'.repeat(101)}`,
      problems: ['error 1:101 the YAML is nested too deeply'],
    },
    {
      title: 'nesting without end, line by line',
      text: '[\n'.repeat(20_000),
      problems: [expect.stringMatching(/^error \d+:1 the YAML is nested too deeply$/)],
    },
    {
      title: 'a bomb of aliases',
      text: `a: &a [${'x,'.repeat(9)}x]\n${['b', 'c', 'd', 'e'].map((name, index) => `${name}: &${name} [${`*${'abcd'[index]},`.repeat(9)}1]\n`).join('')}`,
      problems: ['error 1:1 YAML: excessive alias count indicates a resource exhaustion attack'],
    },
    {
      title: 'a byte that is not UTF-8',
      text: Uint8Array.from([0x61, 0x3a, 0x20, 0x31, 0x0a, 0x62, 0x3a, 0x20, 0xff]),
      problems: ['error 2:4 the file is not UTF-8 here | Save it as UTF-8.'],
    },
  ])('$title leaves no value', ({ text, problems }) => {
    const document = read(text);
    expect({ value: document.value, problems: document.problems.map(line) }).toEqual({
      value: undefined,
      problems,
    });
  });

  test('a duplicate key is named where it is repeated, and the last value counts', () => {
    const document = read('a: 1\nb: {x: 1, x: 2}\n"a": 3\n');
    expect({ value: document.value, problems: document.problems.map(line) }).toEqual({
      value: { a: 3, b: { x: 2 } },
      problems: [
        'error 3:1 duplicate key `a` in one mapping | Remove one of the two.',
        'error 2:11 duplicate key `x` in one mapping | Remove one of the two.',
      ],
    });
  });

  test('a second document is reported, and its own mistakes are not', () => {
    const document = read('a: 1\n---\nb: [\n');
    expect({
      value: document.value,
      problems: document.problems.map(line),
      second: document.secondDocument,
    }).toEqual({
      value: { a: 1 },
      problems: [
        'error 3:1 only the first YAML document of a file is used; a second one starts here | Remove the `---` above it, or move it to another file.',
      ],
      second: document.problems[0],
    });
  });

  test('an unknown tag is a warning', () => {
    const document = read('a: !!binary aGk=\nb: !own 5');
    expect({ value: document.value, problems: document.problems.map(line) }).toEqual({
      value: { a: 'aGk=', b: '5' },
      problems: [
        'warning 1:4 unresolved tag: tag:yaml.org,2002:binary; the value is read as if it had none',
        'warning 2:4 unresolved tag: !own; the value is read as if it had none',
      ],
    });
  });
});

describe('unreadable files', () => {
  mkdirSync(join(folder, 'empty'));
  test.each([
    { file: join(folder, 'none.yaml'), message: 'does not exist' },
    { file: join(folder, 'empty'), message: 'is a folder' },
    { file: join(write('plain', ''), 'inside'), message: 'does not exist: a part of its path is a file' },
  ])('$message', ({ file, message }) => {
    const read = () => readDocument(file);
    expect(read).toThrow(RuntimeError);
    expect(read).toThrow(expect.objectContaining({ code: 'FILE_UNREADABLE', message: `${file} ${message}` }));
  });
});

test.each([
  [
    'a hundred thousand lists inside of one another',
    `a: ${'['.repeat(100_000)}`,
    'the YAML is nested too deeply',
  ],
  [
    'three thousand levels of indentation',
    Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
    'the YAML is nested too deeply',
  ],
  [
    'two hundred mappings inside of one another',
    Array.from({ length: 200 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
    'the YAML is nested too deeply',
  ],
  [
    'aliases of aliases',
    `a0: &a0 [x, x]\n${powers((before) => `[*a${before}, *a${before}, *a${before}]`)}`,
    'YAML: excessive alias count indicates a resource exhaustion attack',
  ],
  [
    'merge keys of merge keys',
    `a0: &a0 {x: 1}\n${powers((before) => `{<<: [*a${before}, *a${before}]}`)}`,
    'its merge keys expand to too many keys',
  ],
  [
    'thousands of anchors, each with an alias',
    Array.from({ length: 5000 }, (_, line) => `k${line}: &n${line} 1\nl${line}: *n${line}`).join('\n'),
    'it has more than 1000 aliases',
  ],
])('a file of %s has a problem with a place', (_title, text, message) => {
  const { value, problems } = parseDocument('hostile.yaml', text);
  expect({ value, messages: problems.map((problem) => problem.message) }).toEqual({
    value: undefined,
    messages: [message],
  });
});

function powers(write: (before: number) => string): string {
  return Array.from({ length: 40 }, (_, index) => `a${index + 1}: &a${index + 1} ${write(index)}`).join('\n');
}
