import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inboundServer } from '../../../src/dialects/picoclaw/inbound/server.ts';
import type { DecisionDocument } from '../../../src/index.ts';

const MARK = 'the SECRET is 42';

const decision = (verdict: 'allow' | 'deny'): DecisionDocument => ({
  ...{
    verdict,
    hook: 'guard',
    dialect: 'promptkit',
    reason: verdict === 'deny' ? 'leak' : '',
    enforced: false,
  },
  ...{ replace: null, result: null, context: [], abort: null, metadata: {} },
});

/** PicoClaw's input while a guard denies each event that contains the mark. */
async function ask(method: string, params: object): Promise<unknown> {
  const answer = await inboundServer.answer(
    { id: 1, method: `hook.${method}`, params } as never,
    async (event) => decision(JSON.stringify(event).includes('SECRET') ? 'deny' : 'allow'),
  );
  return answer?.['result'];
}

const call = {
  ...{ id: 'c', type: 'function', name: 'f', thought: 'x' },
  function: { name: 'f', arguments: '{"a":"b"}', note: 'x' },
};
const documents = {
  before_llm: {
    model: 'm',
    messages: [
      { role: 'system', content: 'x', system_parts: [{ type: 'text', text: 'x', cache_control: {} }] },
      { role: 'user', content: 'hi', media: ['a'], attachments: [{ url: 'x' }], model_name: 'm' },
      { role: 'assistant', content: '', reasoning_content: 'x', tool_calls: [call] },
      { role: 'tool', content: 'x', tool_call_id: 'c' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'x', parameters: { type: 'object' } } }],
    options: { max_tokens: 5, thinking_level: 'x' },
    note: 'x',
  },
  after_llm: {
    model: 'm',
    response: {
      ...{
        role: 'assistant',
        content: 'x',
        reasoning_content: 'x',
        tool_calls: [call],
        finish_reason: 'stop',
      },
      ...{ usage: { prompt_tokens: 1 }, reasoning: 'x', reasoning_details: [{ text: 'x' }] },
    },
  },
  after_tool: {
    tool: 't',
    arguments: { a: 'x' },
    result: {
      ...{ for_llm: 'x', for_user: 'x', silent: false, is_error: false, async: false, media: ['a'] },
      ...{ artifact_tags: ['x'], response_handled: false, note: { deep: ['x'] } },
    },
  },
} as const;

type Path = readonly (string | number)[];

/** The paths of all values except those that identify the call. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key]))];
}

function put(document: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const changed = put(Reflect.get(Object(document), key), rest, value);
  if (!Array.isArray(document)) return { ...Object(document), [key]: changed };
  // A list gets one more item instead of one more key.
  if (!(Number(key) < document.length)) return [...document, changed];
  return document.map((item, index) => (index === Number(key) ? changed : item));
}

const marks = fc.constantFrom(
  MARK,
  [MARK],
  { type: MARK },
  { [MARK]: 1 },
  { type: 'text', text: [{ x: MARK }] },
);

test.each(['before_llm', 'after_llm', 'after_tool'] as const)(
  'property: every text of %s in PicoClaw’s hook is judged, wherever it is [DS-INBOUND-09]',
  async (method) => {
    const document = documents[method];
    const part = { before_llm: [], after_llm: ['response'], after_tool: ['result'] }[method];
    expect(await ask(method, document)).toEqual({ action: 'continue' });
    const places = pathsIn(part.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), document))
      .map((path) => [...part, ...path])
      .filter((path) => path.length > 0);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.constantFrom('', 'unknown', 'type', 'id'),
        marks,
        async (path, key, mark) => {
          const changed = put(document, key === '' ? path : [...path, key], mark);
          expect(await ask(method, Object(changed))).not.toEqual({ action: 'continue' });
        },
      ),
      { numRuns: 500 },
    );
  },
);

test.each([
  ['text that is no JSON', `{"a": "${MARK}`],
  ['a key that is said twice', `{"a": "${MARK}", "a": "b"}`],
  ['a list', `["${MARK}"]`],
])('arguments of a call that are %s are judged [DS-INBOUND-09]', async (_, args) => {
  const message = {
    role: 'assistant',
    content: '',
    tool_calls: [{ ...call, function: { name: 'f', arguments: args } }],
  };
  expect(await ask('before_llm', { model: 'm', messages: [message] })).toMatchObject({
    action: 'abort_turn',
  });
});
