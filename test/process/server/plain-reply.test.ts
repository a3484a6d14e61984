import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPlainReply } from '../../../src/process/server/inbox.ts';
import { readLine } from '../../../src/process/server/json-rpc.ts';
import { anySample, numberText, stringText } from '../../json-texts.ts';

function readShort(line: Uint8Array) {
  const before = Buffer.from('{"id":9}\n');
  const bytes = Buffer.concat([before, line, Buffer.from('}\n}')]);
  return readPlainReply(bytes, before.length, before.length + line.length);
}

/** The fast reading may give up (undefined); otherwise it must equal the full one. */
function agrees(line: Uint8Array): boolean {
  const short = readShort(line);
  if (short === undefined) return false;
  const { id, result } = short;
  expect(readLine(line)).toEqual({ kind: 'reply', id, result, versioned: true });
  expect(result.value).toEqual(JSON.parse(result.text));
  return true;
}

const usual = fc
  .tuple(
    fc.oneof(fc.nat(), fc.maxSafeNat(), fc.bigInt({ min: -1n, max: 10n ** 20n })),
    fc.oneof(
      anySample.map(({ text }) => text),
      numberText,
      stringText,
      fc.jsonValue().map((value) => JSON.stringify(value)),
    ),
    fc.constantFrom<(id: bigint | number, result: string) => string>(
      (id, result) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
      (id, result) => `{"jsonrpc": "2.0", "id": ${id}, "result": ${result}}`,
      (id, result) => `{"id":${id},"jsonrpc":"2.0","result":${result}}`,
      (id, result) => `{"id": ${id}, "jsonrpc": "2.0", "result": ${result}}`,
      (id, result) => `{"jsonrpc":"2.0","result":${result},"id":${id}}`,
      (id, result) => `{"jsonrpc": "2.0", "result": ${result}, "id": ${id}}`,
    ),
  )
  .map(([id, result, spell]) => spell(id, result));

describe('a line in the usual spelling', () => {
  test.each([
    { title: 'without spaces', line: '{"jsonrpc":"2.0","id":7,"result":{"a":[1,{}]}}', text: '{"a":[1,{}]}' },
    { title: 'with spaces', line: '{"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}', text: '{"a": 1}' },
    { title: 'with sorted keys', line: '{"id":7,"jsonrpc":"2.0","result":[1]}', text: '[1]' },
    {
      title: 'with sorted keys and spaces',
      line: '{"id": 7, "jsonrpc": "2.0", "result": "a"}',
      text: '"a"',
    },
    { title: 'with the id last', line: '{"jsonrpc":"2.0","result":{"id":8},"id":7}', text: '{"id":8}' },
    {
      title: 'with the id last, and spaces',
      line: '{"jsonrpc": "2.0", "result": [",\\"id\\":8}"], "id": 7}',
      text: '[",\\"id\\":8}"]',
    },
    { title: 'with a null result', line: '{"jsonrpc":"2.0","id":7,"result":null}', text: 'null' },
    { title: 'with many digits', line: '{"jsonrpc":"2.0","id":7,"result":1.10e400}', text: '1.10e400' },
    { title: 'beyond ASCII', line: '{"jsonrpc":"2.0","id":7,"result":"é€😀"}', text: '"é€😀"' },
    {
      title: 'with keys twice in the data',
      line: '{"jsonrpc":"2.0","id":7,"result":{"id":1,"id":2}}',
      text: '{"id":1,"id":2}',
    },
  ])('$title is read', ({ line, text }) => {
    expect(readShort(Buffer.from(line))).toMatchObject({ id: 7, result: { text } });
    expect(agrees(Buffer.from(line))).toBe(true);
  });

  test('a result equals an earlier one only if every byte is the same', () => {
    const line = (result: string) => Buffer.from(`{"jsonrpc":"2.0","id":7,"result":${result}}`);
    const first = readShort(line('{"allow":true}'));
    const [again, known] = [readShort(line('{"allow":true}')), readShort(line('{"allow":true}'))];
    expect(known).toEqual({ id: 7, result: first?.result });
    expect(known?.result.value).toEqual({ allow: true });
    // Values from one line must not share objects with those from another.
    expect(known?.result.value).not.toBe(again?.result.value);
    for (const broken of [
      '{"allow":truf}',
      '{"allow":true ',
      '[{"allow":true}',
      '{"allow":true}}',
      '"allow":true}',
    ])
      expect(readShort(line(broken))).toBeUndefined();
    expect(readShort(line('{"allow":null}'))?.result.value).toEqual({ allow: null });
    expect(readShort(line('{"allow":"a"}'))?.result.value).toEqual({ allow: 'a' });
  });

  test('is read as the full parser reads it, or not at all', () => {
    let count = 0;
    fc.assert(
      fc.property(usual, (line) => {
        if (agrees(Buffer.from(line))) count += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(count).toBeGreaterThan(1_000);
  });
});

describe('a line in any other spelling is left to the full parser', () => {
  test.each([
    '',
    '{',
    '}',
    '{}',
    '{"jsonrpc":"2.0","id":}',
    '{"jsonrpc":"2.0","id":,"result":1}',
    '{"jsonrpc":"2.0","id":7,"result":}',
    '{"jsonrpc":"2.0","id":7,"result":1',
    '{"jsonrpc":"2.0","id":07,"result":1}',
    '{"jsonrpc":"2.0","id":0,"result":1}',
    '{"jsonrpc":"2.0","id":-7,"result":1}',
    '{"jsonrpc":"2.0","id":7.0,"result":1}',
    '{"jsonrpc":"2.0","id":7e0,"result":1}',
    '{"jsonrpc":"2.0","id":"7","result":1}',
    '{"jsonrpc":"2.0","id":null,"result":1}',
    '{"jsonrpc":"2.0","id":1234567890123456,"result":1}',
    '{"jsonrpc":"2.0","id":7,"id":8,"result":1}',
    '{"jsonrpc":"2.0","id":7,"result":1,"result":2}',
    '{"jsonrpc":"2.0","id":7,"result":1,"id":8}',
    '{"jsonrpc":"2.0","id":7,"result":1,"\\u0069d":8}',
    '{"jsonrpc":"2.0","\\u0069d":7,"result":1}',
    '{"jsonrpc":"2.0","ID":7,"result":1}',
    '{"jsonrpc":"2.0","id":7,"Result":1}',
    '{"jsonrpc":"2.0","id":7,"result":1,"Error":{}}',
    '{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1}}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":1}}',
    '{"jsonrpc":"1.0","id":7,"result":1}',
    '{"id":7,"result":1}',
    '{"id":7,"jsonrpc":"2.0","result":1,"id":7}',
    '{"id":7,"jsonrpc":"1.0","result":1}',
    '{"jsonrpc":"2.0","result":1,"id":}',
    '{"jsonrpc":"2.0","result":,"id":7}',
    '{"jsonrpc":"2.0","result":"id":7}',
    '{"jsonrpc":"2.0","result":1,"id":07}',
    '{"jsonrpc":"2.0","result":1,"id":-7}',
    '{"jsonrpc":"2.0","result":1,"id":7.0}',
    '{"jsonrpc":"2.0","result":1,"id":"7"}',
    '{"jsonrpc":"2.0","result":1,"id":7,"id":7}',
    '{"jsonrpc":"2.0","result":1,"result":2,"id":7}',
    '{"jsonrpc":"2.0","result":1,"ID":8,"id":7}',
    '{"jsonrpc":"2.0","result":1 ,"id":7}',
    '{"jsonrpc":"2.0","result":"x,"id":7}',
    '{"jsonrpc":"2.0","id":7,"result": 1}',
    '{"jsonrpc":"2.0","id":7,"result":1 }',
    '{"jsonrpc":"2.0","id":7,"result":1\t}',
    '{"jsonrpc":"2.0","id":7,"result":1}}',
    '{"jsonrpc":"2.0","id":7,"result":{}{}}',
    '{"jsonrpc":"2.0","id":7,"result":01}',
    '{"jsonrpc":"2.0","id":7,"result":NaN}',
    '{"jsonrpc":"2.0","id":7,"result":"\u0001"}',
    '{"jsonrpc":"2.0","id":7,"result":\ufeff1}',
    '\ufeff{"jsonrpc":"2.0","id":7,"result":1}',
    ' {"jsonrpc":"2.0","id":7,"result":1}',
    '{"jsonrpc":"2.0","id":7,"result":1} ',
    '[{"jsonrpc":"2.0","id":7,"result":1}]',
    '{"jsonrpc":"2.0","id":7,"result":"\ufffd"}',
  ])('%s', (line) => {
    expect(readShort(Buffer.from(line))).toBeUndefined();
  });

  test('and so is every line that is not UTF-8', () => {
    const line = Buffer.from('{"jsonrpc":"2.0","id":7,"result":"caf\xe9"}', 'latin1');
    expect(readShort(line)).toBeUndefined();
  });
});

test('any change of a usual line gives the same in both parsers', () => {
  const change = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 2 }),
    add: fc.oneof(
      fc.uint8Array({ maxLength: 2 }),
      fc
        .constantFrom(
          ...[
            '"',
            '{',
            '}',
            ',',
            ':',
            '1',
            '0',
            '.',
            ' ',
            '\r',
            'e',
            '\\',
            '\ufeff',
            '\u2028',
            '"id":8,',
            ',"error":{}',
            ',"Result":2',
          ],
        )
        .map((text) => Buffer.from(text)),
    ),
  });
  fc.assert(
    fc.property(usual, fc.array(change, { minLength: 1, maxLength: 3 }), (line, changes) => {
      let bytes = Buffer.from(line);
      for (const { at, remove, add } of changes) {
        const place = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, place), add, bytes.subarray(place + remove)]);
      }
      agrees(bytes);
    }),
    { numRuns: 5_000 },
  );
});

test('a result that is nested beyond any stack is read', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(readShort(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${deep}}`))?.result.text).toBe(deep);
});
