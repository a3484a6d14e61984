import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPythonJson } from '../../../src/dialects/agentao/dialect.ts';
import { fromPythonJson, holdsNonFinite, strip } from '../../../src/dialects/agentao/process-output.ts';

const runPython = (program: string, lines: readonly string[]) =>
  spawnSync('python3', ['-c', program], { input: lines.join('\n'), encoding: 'utf8', maxBuffer: 2 ** 26 });

const hasPython = runPython('', []).status === 0;

const { value: jsonText } = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom('', '', ' ', '\t', ' \r ');
  const numerals = fc.oneof(
    fc.integer().map(String),
    fc.bigInt().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number.toExponential()),
    fc.constantFrom(
      '-0',
      '-0.0',
      '1E5',
      '1.50',
      '0.1e+3',
      '1e15',
      '1e16',
      '1e-4',
      '1e-5',
      '5e-324',
      '1e-999',
    ),
    fc.constantFrom('9007199254740993', '9007199254740993.0', '123456789012345678e-2', '0.1e-6', '2.5e+22'),
  );
  const text = fc.string({ unit: 'binary' });
  const strings = fc.oneof(
    text.map((each) => JSON.stringify(each)),
    text.map((each) => JSON.stringify(each).replaceAll('/', '\\/').replaceAll('a', '\\u0061')),
    fc.constantFrom('"\\ud83d\\ude82"', '"\\ud800"', '"é\\u00e9"', '"\u007f"', '"\u2028"'),
  );
  const list = fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
    .map(([parts, gap]) => `[${gap}${parts.join(`${gap},${gap}`)}${gap}]`);
  const members = fc.uniqueArray(fc.tuple(text, tie('value')), { selector: ([key]) => key, maxLength: 4 });
  const object = fc
    .tuple(members, space)
    .map(
      ([parts, gap]) =>
        `{${parts.map(([key, part]) => `${gap}${JSON.stringify(key)}${gap}:${part}`).join(',')}}`,
    );
  const value = fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false', 'null'),
    numerals,
    strings,
    list,
    object,
  );
  return { value };
});

describe.skipIf(!hasPython)('compared with python3', () => {
  test('stdin equals json.dumps of the same values [AO-5-10]', () => {
    const texts = fc.sample(jsonText, { numRuns: 3_000, seed: 7 });
    const program =
      'import json, sys\nfor line in sys.stdin.buffer.read().decode().split("\\n"): print(json.dumps(json.loads(line)))';
    const { stdout } = runPython(program, texts);
    expect(texts.map(toPythonJson)).toEqual(stdout.trimEnd().split('\n'));
  });

  test('an answer is JSON exactly where json.loads accepts it [AO-7-43@oneshot]', () => {
    const words = fc.constantFrom(
      'NaN',
      'Infinity',
      '-Infinity',
      '-NaN',
      '+Infinity',
      'NaNs',
      '1NaN',
      'nan',
      '1',
      '"NaN"',
      '-1',
    );
    const texts = fc.sample(
      fc.oneof(
        words.map((word) => `{"a": ${word}}`),
        fc.array(words, { maxLength: 3 }).map((list) => `[${list.join(', ')}]`),
        fc.tuple(words, fc.constantFrom('', ' ', '.', '0', '-', '\u00a0')).map((parts) => parts.join('')),
        fc.tuple(jsonText, words).map(([text, word]) => `[${text},${word}]`),
      ),
      { numRuns: 1_000, seed: 7 },
    );
    const program =
      'import json, sys\nfor line in sys.stdin.buffer.read().decode().split("\\n"):\n  try: json.loads(line); print(1)\n  except ValueError: print(0)';
    const { stdout } = runPython(program, texts);
    expect(texts.map((text) => (isJson(fromPythonJson(text)) ? '1' : '0'))).toEqual(
      stdout.trimEnd().split('\n'),
    );
  });

  test('white space is the same as for str.strip', () => {
    const codes = Array.from({ length: 0xffff }, (_, code) => code).filter(
      (code) => code < 0xd800 || code > 0xdfff,
    );
    const program = 'print(",".join(str(c) for c in range(0xffff) if not chr(c).strip()))';
    const { stdout } = runPython(program, []);
    const isSpace = (code: number) => strip(String.fromCharCode(code)) === '';
    expect(codes.filter(isSpace).join(',')).toBe(stdout.trim());
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  {
    given: '{"a":[1,2.50,-0,1e3],"b":"é\\u00e9 🚂","c":{}}',
    written: '{"a": [1, 2.5, 0, 1000.0], "b": "\\u00e9\\u00e9 \\ud83d\\ude82", "c": {}}',
  },
  { given: '{ "n":12345678901234567890 }', written: '{"n": 12345678901234567890}' },
  { given: '[1e999,-1e999]', written: '[1e999, -1e999]' },
  {
    given: '"a\\/b\\b\\f\\n\\r\\t\\"\\\\\\u0000\\u007f"',
    written: '"a/b\\b\\f\\n\\r\\t\\"\\\\\\u0000\\u007f"',
  },
  { given: '""', written: '""' },
])('$given is written as $written [AO-5-10]', ({ given, written }) => {
  expect(toPythonJson(given)).toBe(written);
});

test('deep and long values are written too', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const long = JSON.stringify('é'.repeat(1_000_000));
  expect([toPythonJson(deep), toPythonJson(long).length]).toEqual([deep, 6_000_002]);
});

test.each([
  { text: '{"a":NaN,"b":[-Infinity]}', json: '{"a":1e999,"b":[-1e999]}', isWhole: false },
  { text: '{"a":"NaN \\"Infinity"}', json: '{"a":"NaN \\"Infinity"}', isWhole: true },
  { text: '{"NaN":1}', json: '{"NaN":1}', isWhole: true },
])('$text is read as $json [AO-7-43@oneshot]', ({ text, json, isWhole }) => {
  expect([fromPythonJson(text), !holdsNonFinite(JSON.parse(json))]).toEqual([json, isWhole]);
});
