import { expect, test } from 'vitest';
import { parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { identifyCase } from '../../../src/suites/case/case-identity.ts';
import { prepareCase } from '../../../src/suites/case/prepared-case.ts';
import { loadSpec } from '../support.ts';

const dataset = 'dataset: {path: rows.jsonl}\n';
const emptyContext = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };

function map(spec: string, row: string, rowNumber = 7) {
  const suite = loadSpec(dataset + spec);
  const value = Object(parseLossless(row));
  const { evals } = prepareCase(suite, value, undefined);
  const requests = evals.flatMap(({ check }) => (check.kind === 'check' ? [check.request] : []));
  return { ...identifyCase(suite, value, rowNumber), requests };
}

test('a mapping fills one request for each eval [DS-SUITE-01]', () => {
  const spec = `
case:
  id: "\${case.id}"
  content: "\${case.solution}"
  context: {metadata: {model: "\${case.model}"}, turn_index: "\${case.turn}"}
  tags: ["\${case.model}", all]
evals:
  - {id: exact, type: final_number, params: {truth: "\${case.truth}", unit: "in \${case.unit}"}}
  - {id: plain, type: length}
  - {id: own, type: length, content: "\${case.model} says \${case.solution}"}
`;
  const row = '{"id":"r1","solution":"is 42","model":"m","turn":2,"truth":42,"unit":"kg"}';
  const context = { ...emptyContext, turn_index: 2, metadata: { model: 'm' } };
  expect(map(spec, row)).toEqual({
    id: 'r1',
    tags: ['m', 'all'],
    requests: [
      { type: 'final_number', params: { truth: 42, unit: 'in kg' }, content: 'is 42', context },
      { type: 'length', params: {}, content: 'is 42', context },
      { type: 'length', params: {}, content: 'm says is 42', context },
    ],
  });
});

test('without a mapping a row is used as the case', () => {
  const row = '{"id":"a","content":"text","tags":["x"],"context":{"variables":{"v":1}},"other":true}';
  expect(map('evals: [{id: e, type: t, params: {o: "${case.other}"}}]\n', row)).toEqual({
    id: 'a',
    tags: ['x'],
    requests: [
      { type: 't', params: { o: true }, content: 'text', context: { ...emptyContext, variables: { v: 1 } } },
    ],
  });
});

const whole = 'evals: [{id: e, type: t, params: "${case.params}"}]\n';

test('long numbers reach the request with all their digits', () => {
  const row = '{"content":"","params":{"truth":12345678901234567890,"list":[9007199254740993]}}';
  const { requests } = map(whole, row);
  expect(requests.map(({ params }) => stringifyJson(params))).toEqual([
    '{"truth":12345678901234567890,"list":[9007199254740993]}',
  ]);
});

const ids = [
  { title: 'a text', id: '"r1"', expected: 'r1' },
  { title: 'a number', id: '12', expected: '12' },
  { title: 'a number too long for a double', id: '12345678901234567890', expected: '12345678901234567890' },
  { title: 'null: the number of the row', id: 'null', expected: '7' },
  { title: 'an empty text: the number of the row', id: '""', expected: '7' },
];

test.each(ids)('the id may be $title', ({ id, expected }) => {
  const mapped = map('evals: [{id: e, type: t}]\n', `{"content":"","id":${id}}`);
  expect(mapped.id).toBe(expected);
});

test('a case without an id gets its row number', () => {
  expect(map('evals: [{id: e, type: t}]\n', '{"content":""}', 12).id).toBe('12');
});

const tagLists = [
  { title: 'texts', tags: '["a","b"]', expected: ['a', 'b'] },
  { title: 'empty ones and nulls, which are dropped', tags: '["",null,"a"]', expected: ['a'] },
  {
    title: 'numbers and flags, as text',
    tags: '[3,true,12345678901234567890]',
    expected: ['3', 'true', '12345678901234567890'],
  },
  { title: 'repeated ones, which count once', tags: '["a","a",1,"1"]', expected: ['a', '1'] },
  { title: 'null', tags: 'null', expected: [] },
];

test.each(tagLists)('tags may be $title', ({ tags, expected }) => {
  const mapped = map('evals: [{id: e, type: t}]\n', `{"content":"","tags":${tags}}`);
  expect(mapped.tags).toEqual(expected);
});

test('the whole context may come from the row; absent or null members are empty', () => {
  const context = {
    messages: [
      { role: 'user', content: 'hi', name: 'Ann' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
    ],
    turn_index: null,
    tool_calls: [
      { name: 'add', args: { a: 1 }, result: '3', error: '', index: 1, id: 'c1' },
      { name: 'get', result: { rows: [1] } },
      { name: 'gone', error: 'no such file' },
    ],
    variables: null,
    metadata: { k: [1] },
    session_id: 's1',
  };
  const { requests } = map('evals: [{id: e, type: t}]\n', JSON.stringify({ content: '', context }));
  expect(requests[0]?.context).toEqual({
    messages: [
      { role: 'user', content: 'hi', name: 'Ann' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1' }] },
    ],
    turn_index: 0,
    tool_calls: [
      { name: 'add', args: { a: 1 }, result: '3', error: '', index: 1 },
      { name: 'get', args: {}, result: '{"rows":[1]}', error: '', index: 0 },
      { name: 'gone', args: {}, result: '', error: 'no such file', index: 0 },
    ],
    variables: {},
    metadata: { k: [1] },
    session_id: 's1',
  });
});

const misfits = [
  { title: 'no content', row: '{}', message: 'content must be text, not nothing' },
  { title: 'content that is null', row: '{"content":null}', message: 'content must be text, not nothing' },
  {
    title: 'content that is a number',
    row: '{"content":3}',
    message: 'content must be text, not the number 3',
  },
  {
    title: 'content that is a long number',
    row: '{"content":12345678901234567890}',
    message: 'content must be text, not the number 12345678901234567890',
  },
  { title: 'an id that is a list', row: '{"id":[]}', message: 'id must be text or a number, not a list' },
  { title: 'tags that are a text', row: '{"tags":"a"}', message: 'tags must be a list, not the string "a"' },
  { title: 'a tag that is a list', row: '{"tags":["a",[]]}', message: 'tags[1] must be text, not a list' },
  {
    title: 'params that are a text',
    row: '{"params":"a"}',
    message: 'evals[e].params must be a mapping, not the string "a"',
  },
  {
    title: 'params that are a number',
    row: '{"params":12345678901234567890}',
    message: 'evals[e].params must be a mapping, not the number 12345678901234567890',
  },
  {
    title: 'a context that is a list',
    row: '{"context":[]}',
    message: 'context must be a mapping, not a list',
  },
  {
    title: 'a misspelt member of the context',
    row: '{"context":{"mesages":[]}}',
    message: 'context.mesages: unknown member',
  },
  {
    title: 'messages that are a mapping',
    row: '{"context":{"messages":{}}}',
    message: 'context.messages must be a list, not a mapping',
  },
  {
    title: 'a message that is a text',
    row: '{"context":{"messages":["a"]}}',
    message: 'context.messages[0] must be a mapping, not the string "a"',
  },
  {
    title: 'a role that does not exist',
    row: '{"context":{"messages":[{"role":"human"}]}}',
    message: 'context.messages[0].role must be one of system, user, assistant, tool, not the string "human"',
  },
  {
    title: 'a message whose content is a mapping',
    row: '{"context":{"messages":[{"role":"user","content":{}}]}}',
    message: 'context.messages[0].content must be text or a list of parts, not a mapping',
  },
  {
    title: 'a negative turn',
    row: '{"context":{"turn_index":-1}}',
    message: 'context.turn_index must be a whole number from 0, not the number -1',
  },
  {
    title: 'half a turn',
    row: '{"context":{"turn_index":0.5}}',
    message: 'context.turn_index must be a whole number from 0, not the number 0.5',
  },
  {
    title: 'a tool call without a name',
    row: '{"context":{"tool_calls":[{}]}}',
    message: 'context.tool_calls[0].name must be text, not nothing',
  },
  {
    title: 'variables that are a list',
    row: '{"context":{"variables":[]}}',
    message: 'context.variables must be a mapping, not a list',
  },
  {
    title: 'a session that is a number',
    row: '{"context":{"session_id":1}}',
    message: 'context.session_id must be text, not the number 1',
  },
];

test.each(misfits)('$title is DATASET_INVALID', ({ row, message }) => {
  // The last of two equal keys counts, so the row's own members win.
  const full = row === '{}' ? '{"params":{}}' : `{"content":"c","params":{},${row.slice(1)}`;
  expect(() => map(whole, full)).toThrow(expect.objectContaining({ code: 'DATASET_INVALID', message }));
});
