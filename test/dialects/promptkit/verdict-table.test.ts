import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import type { NativeEvent } from '../../../src/contract/hook.ts';
import { promptkit } from '../../../src/dialects/promptkit/dialect.ts';
import { event } from '../verdicts.ts';

const provider = { hook: 'provider', request: { messages: [], system_prompt: '' } } as const;
const tool = { hook: 'tool', request: { name: 'w', args: new Json('{}'), call_id: 'c' } } as const;
const phases: Readonly<Record<string, NativeEvent>> = {
  before_call: readEvent({ ...provider, phase: 'before_call' }),
  after_call: readEvent({
    ...provider,
    phase: 'after_call',
    response: { message: { role: 'assistant', content: 'a' } },
  }),
  before_execution: readEvent({ ...tool, phase: 'before_execution' }),
  after_execution: readEvent({ ...tool, phase: 'after_execution', response: { content: 'a' } }),
  session_start: readEvent({ hook: 'session', phase: 'session_start', event: {} }),
};

/** The verdict of a reply and its other members, on either transport; the error code if it has none. */
function verdictOf(text: string, phase = 'before_execution'): unknown {
  const replies: readonly Reply[] = [
    { via: 'process', exitCode: 0, signal: null, stdout: Buffer.from(text), stderr: '' },
    { via: 'rpc', result: new Json(text) },
  ];
  const [printed, answered] = replies.map((reply) => {
    try {
      const { output, notes } = promptkit.hook.decode(reply, phases[phase] ?? event);
      const { verdict, reason, metadata } = output;
      expect(notes.filter(({ message }) => !message)).toEqual([]);
      expect(notes.filter(({ level }) => level !== 'warn' && level !== 'debug')).toEqual([]);
      return {
        ...{ verdict, reason, metadata: metadata.text, notes: notes.length },
        ...('enforced' in output && output.enforced && { enforced: true }),
        ...('replace' in output && { replace: output.replace?.text }),
      };
    } catch (error) {
      return error instanceof RuntimeError ? error.code : error;
    }
  });
  expect(answered).toEqual(printed);
  return printed;
}

const said = (verdict: string, more: object = {}) => ({
  verdict,
  reason: '',
  metadata: '{}',
  notes: 0,
  ...more,
});

test.each([
  ['{"allow":true}', said('allow')],
  [
    '{"allow":true,"reason":"so","metadata":{"a":1.0},"enforced":false}',
    said('allow', { reason: 'so', metadata: '{"a":1.0}' }),
  ],
  ['{"allow":true,"reason":null,"metadata":null,"enforced":null,"ask":null}', said('allow')],
  ['{"allow":true,"other":1}', said('allow', { notes: 1 })],
  ['{"allow":true,"replace":{"args":{"a":1}}}', said('modify', { replace: '{"args":{"a":1}}' })],
  ['{"allow":false}', said('deny')],
  [
    '{"allow":false,"reason":"no","metadata":{"a":1},"enforced":true}',
    said('deny', { reason: 'no', metadata: '{"a":1}', enforced: true }),
  ],
  ['{"allow":false,"reason":1,"metadata":[],"enforced":"yes"}', said('deny', { notes: 3 })],
  ['{"allow":false,"replace":{"args":{}}}', said('deny', { notes: 1 })],
  ['{"allow":false,"other":1,"replace":null}', said('deny', { notes: 2 })],
  ['{"allow":false,"ask":true}', said('ask')],
  [
    '{"allow":false,"ask":true,"reason":"may it?","metadata":{"a":1}}',
    said('ask', { reason: 'may it?', metadata: '{"a":1}' }),
  ],
  ['{"allow":false,"ask":false}', said('deny')],
  ['{"allow":false,"ask":"yes"}', said('deny', { notes: 1 })],
  ['{"allow":false,"ask":true,"enforced":true}', said('deny', { enforced: true, notes: 1 })],
  ['{"allow":false,"ask":true,"enforced":false}', said('ask')],
  ['{"allow":false,"ask":true,"ask":true}', expect.objectContaining({ verdict: 'deny' })],
])('%s is read as its verdict', (text, verdict) => {
  expect(verdictOf(text)).toEqual(verdict);
});

test.each([
  '{}',
  '{"allow":null}',
  '{"allow":"true"}',
  '{"allow":1}',
  '{"allow":true,"allow":true}',
  '{"allow":false,"allow":false}',
  '{"allow":true,"reason":1}',
  '{"allow":true,"enforced":"no"}',
  '{"allow":true,"enforced":0}',
  '{"allow":true,"enforced":""}',
  '{"allow":true,"enforced":true}',
  '{"allow":true,"metadata":[]}',
  '{"allow":true,"ask":false}',
  '{"allow":true,"ask":true}',
  '{"allow":true,"replace":null}',
  '{"allow":true,"replace":{}}',
  '{"allow":true,"replace":[]}',
  '[]',
  'true',
])('%s affirms nothing', (text) => {
  expect(verdictOf(text)).toBe('REPLY_MALFORMED');
});

test.each(['before_call', 'after_call', 'after_execution', 'session_start'])(
  'at %s a question denies',
  (phase) => {
    expect(verdictOf('{"allow":false,"ask":true}', phase)).toEqual(said('deny', { notes: 1 }));
  },
);

const user = '{"role":"user","content":"a"';
const fits: readonly [phase: string, replace: string][] = [
  ['before_call', `{"messages":[${user}}]}`],
  ['before_call', '{"messages":[]}'],
  ['before_call', '{"system_prompt":"a"}'],
  ['before_call', '{"other":{}}'],
  ['before_call', `{"messages":[${user},"parts":[{"text":"a"},{"url":"x"}]}]}`],
  ['before_call', `{"messages":[${user},"parts":null,"tool_result":{"parts":[]}}]}`],
  ['before_call', '{"messages":[{"role":"system","content":""},{"role":"tool","content":""}]}'],
  ['after_call', '{"message":{"role":"assistant","content":"a"}}'],
  ['before_execution', '{"args":{}}'],
  ['after_execution', '{"content":"a"}'],
];

test.each(fits)('at %s the replacement %s fits', (phase, replace) => {
  expect(verdictOf(`{"allow":true,"replace":${replace}}`, phase)).toEqual(said('modify', { replace }));
});

const misfits: readonly [phase: string, replace: string][] = [
  ['before_call', '{"messages":{}}'],
  ['before_call', '{"messages":[1]}'],
  ['before_call', '{"messages":[null]}'],
  ['before_call', '{"messages":[{"role":"robot","content":"a"}]}'],
  ['before_call', '{"messages":[{"role":"user","content":1}]}'],
  ['before_call', `{"messages":[${user}},{"role":"user"}]}`],
  ['before_call', `{"messages":[${user},"parts":{}}]}`],
  ['before_call', `{"messages":[${user},"parts":[1]}]}`],
  ['before_call', `{"messages":[${user},"parts":[{"text":"a"},{"text":1}]}]}`],
  ['before_call', `{"messages":[${user},"tool_result":{"parts":[1]}}]}`],
  ['before_call', '{"system_prompt":1}'],
  ['before_call', '{"other":"a"}'],
  ['before_call', '{"system_prompt":"a","args":{}}'],
  ['before_call', '{"system_prompt":"a","toString":1}'],
  ['after_call', '{"message":{"role":"user","content":"a"}}'],
  ['after_call', '{"message":"a"}'],
  ['after_call', '{"message":{"role":"assistant","content":1}}'],
  ['before_execution', '{"args":"a"}'],
  ['before_execution', '{"name":"x"}'],
  ['after_execution', '{"content":1}'],
  ['session_start', '{"content":"a"}'],
  ['session_start', '{}'],
];

test.each(misfits)('at %s the replacement %s does not fit, and nothing is allowed', (phase, replace) => {
  expect(verdictOf(`{"allow":true,"replace":${replace}}`, phase)).toBe('REPLY_MALFORMED');
});

const toolRequest = { name: 'w', args: {}, call_id: 'c' };
const providerRequest = expect.objectContaining({ messages: [], system_prompt: '' });

test.each([
  ['before_call', { hook: 'provider', phase: 'before_call', request: providerRequest }],
  [
    'after_call',
    {
      ...{ hook: 'provider', phase: 'after_call', request: providerRequest },
      response: expect.objectContaining({ message: expect.objectContaining({ content: 'a' }) }),
    },
  ],
  ['before_execution', { hook: 'tool', phase: 'before_execution', request: toolRequest }],
  [
    'after_execution',
    {
      ...{ hook: 'tool', phase: 'after_execution', request: toolRequest },
      response: expect.objectContaining({ content: 'a' }),
    },
  ],
  ['session_start', { hook: 'session', phase: 'session_start', event: expect.any(Object) }],
])('at %s a hook receives its phase and the event', (phase, body) => {
  expect(JSON.parse(promptkit.hook.encode(phases[phase] ?? event).body)).toEqual(body);
});

test('the arguments of a tool reach a hook to the digit', () => {
  const exact = readEvent({
    hook: 'tool',
    phase: 'before_execution',
    request: { ...tool.request, args: new Json('{"n": 1.0}') },
  });
  expect(promptkit.hook.encode(exact).body).toBe(
    '{"hook":"tool","phase":"before_execution","request":{"name":"w","args":{"n": 1.0},"call_id":"c"}}',
  );
});
