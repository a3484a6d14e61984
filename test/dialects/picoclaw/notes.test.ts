import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { answered, ask, seatOf } from './seat.ts';

type Change = Parameters<typeof seatOf>[0];

/** The notes on a reply, each as its level and member. */
function notesOn(point: string, says: string, change: Change = {}, payload: object = {}): string[] {
  const question = { ...ask(point), payload: { ...ask(point).payload, ...payload } };
  const { notes } = picoclaw.decode(seatOf(change), question, answered(says));
  return notes.map(({ level, message }) => `${level} ${/["`](.*?)["`]/.exec(message)?.[1]}`);
}

const head = { version: 'head' } as const;

test.each([
  ['before_tool', '{"action":"respond","result":{"for_llm":"r"},"call":{},"reason":"r","message":"m"}'],
  ['before_tool', '{"action":"modify","call":{"tool":"x"}}'],
  ['before_llm', '{"action":"modify","request":{"model":"n"}}'],
  ['before_llm', '{"action":"modify","request":{"options":{"temperature":1,"max_tokens":9}}}'],
  ['after_tool', '{"action":"modify","result":{"for_llm":"r"}}'],
  ['approve_tool', '{"approved":true,"reason":"r","message":"m"}'],
  ['approve_tool', '{"approved":false}'],
  ['before_tool', 'null'],
  ['approve_tool', 'null'],
])('at %s there is no note on %s', (point, says) => {
  expect(notesOn(point, says, { onFailure: 'deny' })).toEqual([]);
});

test.each([
  ['before_tool', '{"action":"deny_tool","x":1}', ['debug x']],
  ['after_llm', '{"action":"continue","result":1}', ['debug result']],
  ['before_tool', '{"action":"continue","action":"continue","x":1}', ['debug x']],
  ['before_tool', '{"action":"allow","approved":false,"x":1}', ['debug approved', 'debug x']],
  ['before_tool', '{"action":"respond","x":1}', ['debug x']],
  ['before_llm', '{"action":"modify","request":{"messages":[]},"x":1}', ['debug x']],
  ['before_tool', '{"action":"block","x":1}', ['debug x']],
  ['before_tool', '{"action":"continue","args":1}', ['debug args']],
  ['before_tool', '{"args":1}', ['debug args', 'warn args']],
  ['approve_tool', '{"approved":1,"x":1}', ['debug x']],
  ['after_tool', '{"action":"modify","result":5,"x":1}', ['debug x']],
])('at %s an unknown member in %s is noted, whatever the outcome', (point, says, notes) => {
  expect(notesOn(point, says, { onFailure: 'deny' })).toEqual(notes);
});

test('a missing method that its pair enabled is noted without a warning [PC-2-06]', () => {
  const late = new RuntimeError('PROCESS_TIMEOUT', 'late');
  const { notes } = picoclaw.decode(seatOf({ intercept: ['before_tool'] }), ask('after_tool'), late);
  expect(notes.map(({ level }) => level)).toEqual(['debug']);
});

const errorNote = ['warn is_error'];

test.each([
  ['{"for_llm":"r","is_error":true}', {}, errorNote],
  ['{"for_llm":"r","is_error":true}', { result: { for_llm: 'o', is_error: true } }, []],
  ['{"for_llm":"r","is_error":false}', { result: { for_llm: 'o', is_error: true } }, errorNote],
  ['{"for_llm":"r","is_error":true}', { result: undefined }, errorNote],
  ['{"for_llm":"r"}', { result: { for_llm: 'o', is_error: true } }, []],
])('a result %s after %o changes no outcome [PC-6-14]', (result, payload, notes) => {
  expect(notesOn('after_tool', `{"action":"modify","result":${result}}`, {}, payload)).toEqual(notes);
});

const tools = new Json('[{"type":"function","function":{"name":"t"}}]');

test.each([
  [`"tools":${tools.text}`, { tools }, []],
  [`"tools":${tools.text}`, { tools: undefined }, ['warn tools']],
  ['"tools":[]', { tools }, ['warn tools']],
  ['"tools":[]', { tools: undefined }, []],
])(
  'at head tools are restored, and a change of them causes a warning: %s of %o [PC-1-05]',
  (given, sent, notes) => {
    const system = '{"role":"system","content":"Be kind."}';
    const request = `{"model":"m","messages":[${system},{"role":"user","content":"a"}],${given}}`;
    expect(notesOn('before_llm', `{"action":"modify","request":${request}}`, head, sent)).toEqual(notes);
  },
);

test('an option without effect causes a warning if it is new or changed [PC-6-10]', () => {
  const options = { max_tokens: 5, top_p: 1, stop: ['a'] };
  const says = (more: string) => `{"action":"modify","request":{"options":{${more}}}}`;
  const on = (more: string) => notesOn('before_llm', says(more), {}, { options });
  expect([on('"top_p":1,"stop":["a"]'), on('"top_p":2,"seed":1'), on('"max_tokens":7')]).toEqual([
    [],
    ['warn request.options.top_p', 'warn request.options.seed'],
    [],
  ]);
});
