import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { encodeRequest, findRequestId, readLine } from '../../../src/process/server/json-rpc.ts';

const read = (text: string) => readLine(Buffer.from(text));

describe('a request', () => {
  test('is one line with the body unchanged [PK-5-01@server]', () => {
    const body = '{"args":{"n":12345678901234567890,"x":1.0}}';
    expect(encodeRequest(7, 'execute', body).toString()).toBe(
      `{"jsonrpc":"2.0","id":7,"method":"execute","params":${body}}\n`,
    );
  });

  test('quotes its method', () => {
    expect(JSON.parse(encodeRequest(1, 'a"b\n', '{}').toString())).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'a"b\n',
      params: {},
    });
  });
});

describe('a line', () => {
  const result = (text: string) => new Json(text);
  const versioned = true;
  test.each([
    {
      title: 'a result',
      text: '{"jsonrpc":"2.0","id":3,"result":{"a":1}}',
      line: { kind: 'reply', id: 3, result: result('{"a":1}'), versioned },
    },
    {
      title: 'a null result',
      text: '{"jsonrpc":"2.0","id":3,"result":null}',
      line: { kind: 'reply', id: 3, result: result('null'), versioned },
    },
    {
      title: 'an error',
      text: '{"jsonrpc":"2.0","id":3,"error":{"code":1}}',
      line: { kind: 'reply', id: 3, error: result('{"code":1}'), versioned },
    },
    {
      title: 'an error beside a result: the error wins',
      text: '{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1}}',
      line: { kind: 'reply', id: 3, error: result('{"code":1}'), ignoredResult: result('1'), versioned },
    },
    {
      title: 'a null error beside a result: it counts as absent',
      text: '{"jsonrpc":"2.0","id":3,"error":null,"result":1}',
      line: { kind: 'reply', id: 3, result: result('1'), versioned },
    },
    {
      title: 'the id 3.0',
      text: '{"jsonrpc":"2.0","id":3.0,"result":1}',
      line: { kind: 'reply', id: 3, result: result('1'), versioned },
    },
    {
      title: 'no version',
      text: '{"id":3,"result":1}',
      line: { kind: 'reply', id: 3, result: result('1'), versioned: false },
    },
    {
      title: 'another version',
      text: '{"jsonrpc":2.0,"id":3,"result":1}',
      line: { kind: 'reply', id: 3, result: result('1'), versioned: false },
    },
    {
      title: 'an error of another type',
      text: '{"jsonrpc":"2.0","id":3,"error":"no such city"}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply’s error is not an object',
        text: '"no such city"',
        problem: 'error_type',
      },
    },
    {
      title: 'a null error and no result',
      text: '{"id":3,"error":null}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply has neither result nor error',
        text: '{"id":3,"error":null}',
        problem: 'no_result',
      },
    },
    {
      title: 'a result in other letters',
      text: '{"id":3,"Result":{"action":"deny_tool"}}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply has neither result nor error',
        text: '{"id":3,"Result":{"action":"deny_tool"}}',
      },
    },
    {
      title: 'a text that spells the id',
      text: '{"id":"3","result":1}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply’s id is "3", not the number 3',
        hint: 'Send the id back as the number that it was, not as text or a fraction.',
        problem: 'id',
      },
    },
    {
      title: 'a fraction',
      text: '{"id":3.5,"result":1}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply’s id is 3.5, not the number 3',
        hint: 'Send the id back as the number that it was, not as text or a fraction.',
        problem: 'id',
      },
    },
    ...[
      { word: 'result', text: '{"id":3,"result":{"action":"deny_tool"},"result":{}}', ids: [3] },
      { word: 'result', text: '{"id":3,"Result":{"action":"deny_tool"},"result":{}}', ids: [3] },
      { word: 'error', text: '{"id":3,"error":null,"error":{},"result":1}', ids: [3] },
      { word: 'result', text: '{"id":"3","result":1,"\\u0072esult":2}', ids: [3] },
      { word: 'id', text: '{"id":3,"id":4,"result":1}', ids: [3, 4] },
      { word: 'id', text: '{"id":3,"result":1,"id":null}', ids: [3] },
    ].map(({ word, text, ids }) => ({
      title: `${text}: no answer, whichever of the two would count`,
      text,
      line: {
        kind: 'twice',
        ids,
        why: `the reply has a duplicate \`${word}\``,
        hint: 'Write `id`, and `result` or `error`, once each and in lower case.',
      },
    })),
    { title: 'a null id', text: '{"id":null,"result":1}', line: { kind: 'anonymous' } },
    { title: 'no id', text: '{"error":{"code":-32700}}', line: { kind: 'anonymous' } },
    {
      title: 'no id and no answer',
      text: '{"level":"info"}',
      line: { kind: 'noise', why: 'neither id, result nor error' },
    },
    {
      title: 'an id that is a list',
      text: '{"id":[3],"result":1}',
      line: { kind: 'noise', why: 'an id that is not an integer' },
    },
    {
      title: 'an id beyond all integers',
      text: '{"id":1e400,"result":1}',
      line: { kind: 'noise', why: 'an id that is not an integer' },
    },
    {
      title: 'a blank text for an id',
      text: '{"id":" ","result":1}',
      line: { kind: 'noise', why: 'an id that is not an integer' },
    },
    {
      title: 'a notification',
      text: '{"method":"progress","params":{}}',
      line: { kind: 'request', method: 'progress', params: {} },
    },
    {
      title: 'a request with the id of one of ours',
      text: '{"id":3,"method":"ping"}',
      line: { kind: 'request', method: 'ping' },
    },
    {
      title: 'a method that is no text',
      text: '{"id":3,"method":{"toString":null,"valueOf":null}}',
      line: { kind: 'request', method: 'a method without a name' },
    },
    {
      title: 'a method beside a result: a reply',
      text: '{"jsonrpc":"2.0","id":3,"method":"execute","result":1}',
      line: { kind: 'reply', id: 3, result: result('1'), versioned },
    },
    {
      title: 'a batch',
      text: '[{"id":3,"result":1},{"id":"4"},{"id":null},{},5,null]',
      line: { kind: 'batch', ids: [3, 4] },
    },
    { title: 'an empty array', text: '[]', line: { kind: 'batch', ids: [] } },
    { title: 'a bare number', text: '42', line: { kind: 'noise', why: 'not a JSON object' } },
    { title: 'null', text: 'null', line: { kind: 'noise', why: 'not a JSON object' } },
    { title: 'nothing', text: '', line: { kind: 'noise', why: 'not JSON' } },
    { title: 'text', text: 'ready', line: { kind: 'noise', why: 'not JSON' } },
    { title: 'two objects', text: '{"id":3,"result":1}{}', line: { kind: 'noise', why: 'not JSON' } },
    {
      title: 'a key that says nothing here and stands twice',
      text: '{"jsonrpc":"1.0","jsonrpc":"2.0","id":3,"x":1,"x":2,"result":2}',
      line: { kind: 'reply', id: 3, result: result('2'), versioned },
    },
    {
      title: 'an id in another letter case',
      text: '{"ID":3,"Result":1,"Error":{}}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply writes its id as `ID`',
        hint: 'Write `id` in lower case.',
        problem: 'id',
      },
    },
    {
      title: 'a result in another letter case beside a method: an answer',
      text: '{"id":3,"method":"x","Result":1}',
      line: {
        kind: 'malformed',
        id: 3,
        why: 'the reply has neither result nor error',
        text: '{"id":3,"method":"x","Result":1}',
      },
    },
    {
      title: 'two ids that differ in letter case: neither',
      text: '{"id":3,"ID":4,"result":1}',
      line: {
        kind: 'twice',
        ids: [3, 4],
        why: 'the reply has a duplicate `id`',
        hint: 'Write `id`, and `result` or `error`, once each and in lower case.',
      },
    },
    {
      title: 'an id in another letter case that is none',
      text: '{"ID":"x","result":1}',
      line: { kind: 'noise', why: 'an id that is not an integer' },
    },
  ])('with $title is read correctly', ({ text, line }) => {
    expect(read(text)).toEqual(line);
  });

  test('that is nested beyond any stack is read normally', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(read(`{"jsonrpc":"2.0","id":1,"result":${deep}}`)).toMatchObject({
      kind: 'reply',
      result: { text: deep },
    });
    expect(read(`{"id":1,"method":${deep}}`)).toEqual({ kind: 'request', method: 'a method without a name' });
    expect(read(deep)).toEqual({ kind: 'batch', ids: [] });
  });

  test('keeps only the start of a long error text', () => {
    const long = 'x'.repeat(100_000);
    expect(read(`{"id":1,"error":"${long}"}`)).toMatchObject({ text: `"${'x'.repeat(199)}…` });
    expect(read(`{"method":"${long}"}`)).toEqual({ kind: 'request', method: `${'x'.repeat(200)}…` });
    expect(read(`{"id":"${'0'.repeat(100_000)}1","result":1}`)).toMatchObject({
      id: 1,
      why: `the reply’s id is "${'0'.repeat(199)}…, not the number 1`,
    });
  });

  test('is read whatever its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200, size: 'max' }), (bytes) => {
        expect(readLine(bytes).kind).toMatch(/^(noise|request|batch|reply|malformed|anonymous)$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is read whatever its members', () => {
    const key = fc.oneof(
      fc.constantFrom('id', 'jsonrpc', 'method', 'result', 'error', '__proto__'),
      fc.string(),
    );
    const object = fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.integer({ min: -1, max: 3 })));
    fc.assert(
      fc.property(fc.oneof(object, fc.array(object)), (value) => {
        const line = read(JSON.stringify(value));
        expect(line.kind).not.toBe(Array.isArray(value) ? 'reply' : 'batch');
      }),
      { numRuns: 2_000 },
    );
  });

  test('returns every result and every error byte for byte', () => {
    const member = fc.tuple(fc.constantFrom('result', 'error'), fc.jsonValue(), fc.nat({ max: 3 }));
    fc.assert(
      fc.property(fc.integer({ min: 1 }), member, (id, [key, value, indent]) => {
        const text = JSON.stringify(key === 'error' ? { code: 1, data: value } : value, null, indent);
        const line = read(`{"jsonrpc":"2.0", "extra": {"result": 0}, "id":${id} ,\t"${key}" : ${text}\r}`);
        expect(line).toEqual({ kind: 'reply', id, [key]: new Json(text), versioned: true });
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    '12345678901234567890',
    '1.10',
    '-0',
    '1E400',
    '"\\u00e9\\/"',
    '{"b":1,"a":2,"b":3}',
    '[ 1 , 2 ]',
  ])('keeps the text of the result %s', (text) => {
    expect(read(`{"jsonrpc":"2.0","id":1,"result":${text}}`)).toMatchObject({ result: { text } });
  });
});

describe('a line that is not UTF-8', () => {
  test.each([
    { title: 'its id', text: '{"id":3,"result":"caf\xe9"}', id: 3 },
    { title: 'its id behind the data', text: '{"result":"caf\xe9","id":3}', id: 3 },
    { title: 'its id, not that of the data', text: '{"result":{"id":4,"x":"\xe9"},"id":3}', id: 3 },
  ])('fails the request of $title', ({ text, id }) => {
    const line = { kind: 'malformed', id, why: 'the reply is not UTF-8' };
    expect(readLine(Buffer.from(text, 'latin1'))).toEqual(line);
  });

  test.each(['caf\xe9 is open', '{"result":"\xe9"}', 'caf\xe9: "id": 3', '["\xe9",{"id":3}]'])(
    'is noise if no id can be read: %s',
    (text) => {
      expect(readLine(Buffer.from(text, 'latin1'))).toEqual({ kind: 'noise', why: 'not UTF-8' });
    },
  );
});

describe('the id of a truncated line', () => {
  const id = (text: string) => findRequestId(Buffer.from(text, 'latin1'));

  test.each([
    { title: 'at the start', text: '{"jsonrpc":"2.0","id":12,"result":"xxx', found: 12 },
    { title: 'with white space', text: ' { "id" :\t12 , "result" : [', found: 12 },
    { title: 'as text', text: '{"id":"12","result":"xxx', found: 12 },
    { title: 'as 12.0', text: '{"id":12.0,"result":"xxx', found: 12 },
    {
      title: 'behind nested data',
      text: '{"meta":{"id":1,"list":[{"id":2}]},"id":12,"result":"x',
      found: 12,
    },
    {
      title: 'behind a text with brackets',
      text: '{"note":"}{][\\"id\\":1,","id":12,"result":"x',
      found: 12,
    },
    { title: 'inside the data only', text: '{"result":{"id":1,"text":"xxx', found: undefined },
    { title: 'inside a list only', text: '[{"id":1},{"id":2,"result":"xxx', found: undefined },
    { title: 'inside a text only', text: '{"result":"\\"id\\":1,xxx', found: undefined },
    { title: 'as a value', text: '{"result":"id","x":1,"y":"xxx', found: undefined },
    { title: 'with digits cut off', text: '{"result":1,"id":12', found: undefined },
    { title: 'as null', text: '{"id":null,"result":"xxx', found: undefined },
    { title: 'below zero', text: '{"id":-1,"result":"xxx', found: undefined },
    { title: 'nowhere', text: 'xxx', found: undefined },
  ])('$title is $found', ({ text, found }) => {
    expect(id(text)).toBe(found);
  });

  test('is that of the whole line, wherever it is cut after the id', () => {
    const line = fc.record({ before: fc.jsonValue(), id: fc.nat(), after: fc.jsonValue(), cut: fc.nat() });
    fc.assert(
      fc.property(line, ({ before, id: wanted, after, cut }) => {
        const head = `{"result":${JSON.stringify(before)},"id":${wanted},`;
        const bytes = Buffer.from(`${head}"error":${JSON.stringify(after)}}`);
        const end = Buffer.byteLength(head) + (cut % (bytes.length - Buffer.byteLength(head)));
        expect(findRequestId(bytes.subarray(0, end))).toBe(wanted);
        expect(findRequestId(bytes)).toBe(wanted);
      }),
      { numRuns: 2_000 },
    );
  });

  test('can be searched for in any bytes without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: 'max' }), (bytes) => {
        expect(['number', 'undefined']).toContain(typeof findRequestId(bytes));
      }),
    );
  });
});
