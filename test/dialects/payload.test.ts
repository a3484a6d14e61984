import { expect, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { runEval } from '../../src/calls/capability/eval.ts';
import { askHook } from '../../src/calls/capability/hook.ts';
import { type EventInput, readEvent } from '../../src/calls/hooks/event-input.ts';
import { runTool } from '../../src/calls/tool-call/call.ts';
import type { NativeName } from '../../src/config/config.ts';
import { scored, unscored } from '../../src/contract/eval.ts';
import type { NativeEvent } from '../../src/contract/hook.ts';
import type { ToolCall } from '../../src/contract/tool.ts';
import { requireNative } from '../../src/dialects/registry.ts';
import { type EvalInput, toEvalRequest, toScoredEvent } from '../../src/pipelines/run/eval-request.ts';
import { answering, type Bench, type Entry, newRecord, openBench } from '../calls/capability/bench.ts';
import { onTransports, type Transport } from '../cite.ts';
import { rowsOf } from '../table.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly dialect: NativeName;
  readonly wire: string;
}

/** The input of a real process. Its answer `true` is always invalid; only the input matters. */
async function recorded(
  { dialect, on }: Pick<Row, 'dialect'> & { readonly on: Transport },
  ask: (bench: Bench, entry: Entry) => Promise<unknown>,
): Promise<string[]> {
  const { env, lines } = newRecord();
  await ask(openBench(), { ...answering(on, 'true'), dialect, env });
  return lines();
}

const provider = {
  provider_id: 'anthropic-main',
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  system_prompt: 'You are …',
  round: 1,
  metadata: { tenant: 'a' },
};
const answer = {
  provider_id: 'anthropic-main',
  model: 'm',
  message: { role: 'assistant', content: 'hello' },
  round: 1,
  latency_ms: 450,
};
const query = {
  name: 'db_query',
  args: new Json('{"query":"SELECT 1", "limit":12345678901234567890}'),
  call_id: 'call_abc123',
};
const rows = {
  name: 'db_query',
  call_id: 'call_abc123',
  content: '{"rows": []}',
  error: '',
  latency_ms: 120,
};
const session = {
  session_id: 'sess_123',
  conversation_id: 'conv_456',
  messages: [{ role: 'user', content: 'hi' }],
  turn_index: 2,
  metadata: { channel: 'web' },
};

/** A message with every documented member and an unknown one. */
const fullMessage =
  '{"role":"assistant","content":"a \\"quoted\\" <b>text</b>","parts":[{"type":"text","text":"a \\"quoted\\" <b>text</b>"},' +
  '{"type":"image","media":{"url":"https://x/y.png","mime_type":"image/png"}}],"tool_calls":[{"id":"1","name":"w","args":' +
  '{"city":"NYC"}}],"timestamp":"2026-01-01T00:00:00Z","latency_ms":12,"cost_info":{"input_tokens":3,"total_cost_usd":0.25},' +
  '"finish_reason":"tool_use","meta":{"n":1},"reasoning":"because","validations":[{"validator_type":"x","passed":true}],"own":null}';

const request =
  '"request":{"provider_id":"anthropic-main","model":"m","messages":[{"role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}],' +
  '"system_prompt":"You are …","round":1,"metadata":{"tenant":"a"}}';
const goRequest =
  '"request":{"ProviderID":"anthropic-main","Model":"m","Messages":[{"role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}],' +
  '"SystemPrompt":"You are …","Round":1,"Metadata":{"tenant":"a"},"Replacement":""}';
const toolRequest =
  '"request":{"name":"db_query","args":{"query":"SELECT 1", "limit":12345678901234567890},"call_id":"call_abc123"}';
const goToolRequest =
  '"request":{"Name":"db_query","Args":{"query":"SELECT 1", "limit":12345678901234567890},"CallID":"call_abc123"}';

const scoredEvent = toScoredEvent(
  {
    id: 'tone',
    request: toEvalRequest('sentiment_check', { content: '', context: { turn_index: 3, session_id: 's' } }),
    passed: true,
  },
  {
    outcome: scored(0.75, 'three of four', new Json('{"big":12345678901234567890}')),
    durationMs: 12,
    queueMs: 0,
    stderr: '',
  },
);
const unscoredEvent = toScoredEvent(
  { id: 'tone', request: toEvalRequest('sentiment_check', { content: '' }), passed: false },
  { outcome: unscored('it timed out'), durationMs: 30, queueMs: 0, stderr: '' },
);
const scoredText =
  '{"eval_id":"tone","type":"sentiment_check","passed":true,"duration_ms":12,"score":0.75,"explanation":"three of four",' +
  '"details":{"big":12345678901234567890},"session_id":"s","turn_index":3}';
const unscoredText =
  '{"eval_id":"tone","type":"sentiment_check","passed":false,"duration_ms":30,"error":"it timed out","turn_index":0}';

const events: readonly (Row & { readonly event: EventInput | NativeEvent })[] = [
  ...rowsOf<Row & { readonly event: EventInput | NativeEvent }>`
  title | cites | dialect | event | wire
  provider before_call | PK-6-01@both | promptkit | ${{ hook: 'provider', phase: 'before_call', request: provider }} | {"hook":"provider","phase":"before_call",${request}}
  a scored eval | PK-6-08@both | promptkit | ${scoredEvent} | ${scoredText}
  an unscored eval | PK-6-08@both PK-6-09@both | promptkit | ${unscoredEvent} | ${unscoredText}
  a scored eval, for Go | PK-6-19@both | promptkit-go | ${scoredEvent} | ${scoredText}
`,
  {
    title: 'provider after_call',
    cites: 'PK-6-02@both',
    dialect: 'promptkit',
    event: { hook: 'provider', phase: 'after_call', request: provider, response: answer },
    wire:
      `{"hook":"provider","phase":"after_call",${request},"response":{"provider_id":"anthropic-main","model":"m",` +
      '"message":{"role":"assistant","content":"hello","parts":[{"type":"text","text":"hello"}]},"round":1,"latency_ms":450}}',
  },
  {
    title: 'tool before_execution, the args as the text they came in',
    cites: 'PK-6-03@both',
    dialect: 'promptkit',
    event: { hook: 'tool', phase: 'before_execution', request: query },
    wire: `{"hook":"tool","phase":"before_execution",${toolRequest}}`,
  },
  {
    title: 'tool after_execution',
    cites: 'PK-6-04@both',
    dialect: 'promptkit',
    event: { hook: 'tool', phase: 'after_execution', request: query, response: rows },
    wire:
      `{"hook":"tool","phase":"after_execution",${toolRequest},"response":{"name":"db_query","call_id":"call_abc123",` +
      '"content":"{\\"rows\\": []}","error":"","latency_ms":120}}',
  },
  ...(['session_start', 'session_update', 'session_end'] as const).map((phase) => ({
    title: phase,
    cites: 'PK-6-05@both',
    dialect: 'promptkit' as const,
    event: { hook: 'session' as const, phase, event: session },
    wire:
      `{"hook":"session","phase":"${phase}","event":{"session_id":"sess_123","conversation_id":"conv_456",` +
      '"messages":[{"role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}],"turn_index":2,"metadata":{"channel":"web"}}}',
  })),
  {
    title: 'a provider call of which nothing is known',
    cites: 'PK-6-06@both',
    dialect: 'promptkit',
    event: { hook: 'provider', phase: 'after_call', request: {}, response: { message: {} } },
    wire:
      '{"hook":"provider","phase":"after_call","request":{"provider_id":"","model":"","messages":[],"system_prompt":"",' +
      '"round":1,"metadata":{}},"response":{"provider_id":"","model":"","message":{"role":"assistant","content":""},"round":1,"latency_ms":0}}',
  },
  {
    title: 'a tool call of which only the name is known, and members that are undefined',
    cites: 'PK-6-06@both',
    dialect: 'promptkit',
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request: { name: 'w', args: undefined, call_id: undefined },
      response: { content: undefined },
    },
    wire:
      '{"hook":"tool","phase":"after_execution","request":{"name":"w","args":{},"call_id":""},' +
      '"response":{"name":"w","call_id":"","content":"","error":"","latency_ms":0}}',
  },
  {
    title: 'a session of which nothing is known',
    cites: 'PK-6-06@both',
    dialect: 'promptkit',
    event: { hook: 'session', phase: 'session_start', event: { session_id: undefined } },
    wire: '{"hook":"session","phase":"session_start","event":{"session_id":"","conversation_id":"","messages":[],"turn_index":0,"metadata":{}}}',
  },
  {
    title: 'members of a request that the wire does not have stay behind',
    cites: 'PK-6-01@both',
    dialect: 'promptkit',
    event: { hook: 'provider', phase: 'before_call', request: { ...provider, api_key: 'secret' } },
    wire: `{"hook":"provider","phase":"before_call",${request}}`,
  },
  {
    title: 'a message with every member there is',
    cites: 'PK-6-07@both',
    dialect: 'promptkit',
    event: { hook: 'session', phase: 'session_end', event: { messages: [JSON.parse(fullMessage)] } },
    wire:
      '{"hook":"session","phase":"session_end","event":{"session_id":"","conversation_id":"",' +
      `"messages":[${fullMessage}],"turn_index":0,"metadata":{}}}`,
  },
  {
    title: 'a message whose text stands in its parts only',
    cites: 'PK-6-07@both',
    dialect: 'promptkit',
    event: {
      hook: 'provider',
      phase: 'before_call',
      request: {
        messages: [
          {
            role: 'user',
            parts: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }],
          },
        ],
      },
    },
    wire:
      '{"hook":"provider","phase":"before_call","request":{"provider_id":"","model":"","messages":[{"role":"user",' +
      '"parts":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}],"content":"ab"}],' +
      '"system_prompt":"","round":1,"metadata":{}}}',
  },
  {
    title: 'a tool message whose text stands in its result only',
    cites: 'PK-6-07@both',
    dialect: 'promptkit',
    event: {
      hook: 'provider',
      phase: 'before_call',
      request: {
        messages: [
          {
            role: 'tool',
            parts: [],
            tool_result: { id: '1', name: 'w', parts: [{ type: 'text', text: '22C' }] },
          },
        ],
      },
    },
    wire:
      '{"hook":"provider","phase":"before_call","request":{"provider_id":"","model":"","messages":[{"role":"tool","parts":[],' +
      '"tool_result":{"id":"1","name":"w","parts":[{"type":"text","text":"22C"}]},"content":"22C"}],' +
      '"system_prompt":"","round":1,"metadata":{}}}',
  },
  {
    title: 'provider before_call, for Go',
    cites: 'PK-6-12@both PK-6-19@both',
    dialect: 'promptkit-go',
    event: { hook: 'provider', phase: 'before_call', request: provider },
    wire: `{"hook":"provider","phase":"before_call",${goRequest}}`,
  },
  {
    title: 'provider after_call, for Go',
    cites: 'PK-6-12@both PK-6-13@both PK-6-19@both',
    dialect: 'promptkit-go',
    event: { hook: 'provider', phase: 'after_call', request: provider, response: answer },
    wire:
      `{"hook":"provider","phase":"after_call",${goRequest},"response":{"ProviderID":"anthropic-main","Model":"m",` +
      '"Message":{"role":"assistant","content":"hello","parts":[{"type":"text","text":"hello"}]},"Round":1,"LatencyMs":450}}',
  },
  {
    title: 'tool before_execution, for Go',
    cites: 'PK-6-14@both',
    dialect: 'promptkit-go',
    event: { hook: 'tool', phase: 'before_execution', request: query },
    wire: `{"hook":"tool","phase":"before_execution",${goToolRequest}}`,
  },
  {
    title: 'tool after_execution, for Go',
    cites: 'PK-6-14@both PK-6-15@both',
    dialect: 'promptkit-go',
    event: { hook: 'tool', phase: 'after_execution', request: query, response: rows },
    wire:
      `{"hook":"tool","phase":"after_execution",${goToolRequest},"response":{"Name":"db_query","CallID":"call_abc123",` +
      '"Content":"{\\"rows\\": []}","Error":"","LatencyMs":120}}',
  },
  {
    title: 'a session, for Go',
    cites: 'PK-6-16@both',
    dialect: 'promptkit-go',
    event: { hook: 'session', phase: 'session_update', event: session },
    wire:
      '{"hook":"session","phase":"session_update","event":{"SessionID":"sess_123","ConversationID":"conv_456",' +
      '"Messages":[{"role":"user","content":"hi","parts":[{"type":"text","text":"hi"}]}],"TurnIndex":2,"Metadata":{"channel":"web"}}}',
  },
  {
    title: 'a provider call of which nothing is known, for Go',
    cites: 'PK-6-17@both',
    dialect: 'promptkit-go',
    event: { hook: 'provider', phase: 'before_call', request: {} },
    wire:
      '{"hook":"provider","phase":"before_call","request":{"ProviderID":"","Model":"","Messages":[],"SystemPrompt":"",' +
      '"Round":1,"Metadata":null,"Replacement":""}}',
  },
  {
    title: 'a session of which nothing is known, for Go',
    cites: 'PK-6-17@both',
    dialect: 'promptkit-go',
    event: { hook: 'session', phase: 'session_start', event: {} },
    wire: '{"hook":"session","phase":"session_start","event":{"SessionID":"","ConversationID":"","Messages":[],"TurnIndex":0,"Metadata":null}}',
  },
  {
    title: 'a message with every member there is, for Go',
    cites: 'PK-6-19@both',
    dialect: 'promptkit-go',
    event: { hook: 'session', phase: 'session_end', event: { messages: [JSON.parse(fullMessage)] } },
    wire:
      '{"hook":"session","phase":"session_end","event":{"SessionID":"","ConversationID":"",' +
      `"Messages":[${fullMessage}],"TurnIndex":0,"Metadata":null}}`,
  },
];

test.each(onTransports(events))('a hook reads $title', async ({ event, dialect, on, wire }) => {
  const input = readEvent(event);
  expect(requireNative(dialect).hook.encode(input)).toEqual({
    method: 'execute',
    body: wire,
    takesMeta: true,
  });
  const lines = await recorded({ dialect, on }, (bench, entry) =>
    askHook(bench.filter(entry), { input, call: 'c' }),
  );
  expect(lines).toEqual([wire]);
});

const approval = {
  reason: 'looks fine',
  by: 'mara',
  decision: 'approved',
  id: 'pending_1',
  until: 'today',
} as const;
const approvalText = '"approval":{"id":"pending_1","decision":"approved","by":"mara","reason":"looks fine"}';

const calls: readonly (Row & { readonly call: Partial<ToolCall> & { readonly args: Json } })[] = [
  ...rowsOf<Row & { readonly call: Partial<ToolCall> & { readonly args: Json } }>`
  title | cites | dialect | call | wire
  its args and nothing else | PK-4-01@both | promptkit | ${{ args: new Json('{"city":"NYC","units":"metric"}') }} | {"args":{"city":"NYC","units":"metric"}}
  no args | PK-4-01@both | promptkit | ${{ args: new Json('{}') }} | {"args":{}}
  the approval beside its args | PK-4-02@both | promptkit | ${{ args: new Json('{"amount":250}'), approval }} | {"args":{"amount":250},${approvalText}}
  the same for Go | PK-1-06@both | promptkit-go | ${{ args: new Json('{"amount":250}'), approval }} | {"args":{"amount":250},${approvalText}}
`,
  {
    title: 'the bytes of its args',
    cites: 'PK-4-08@both',
    dialect: 'promptkit',
    call: { args: new Json('{ "z" :12345678901234567890,"a":[1.10, 1e2,-0],"é":"\\u00e9<&>\\/\\u2028"}') },
    wire: '{"args":{ "z" :12345678901234567890,"a":[1.10, 1e2,-0],"é":"\\u00e9<&>\\/\\u2028"}}',
  },
  {
    title: 'args that came on several lines, on one',
    cites: 'PK-4-08@both',
    dialect: 'promptkit',
    call: { args: new Json('{\r\n\t"city": "NYC\\n",\n\t"n": 1\n}') },
    wire: '{"args":{  \t"city": "NYC\\n", \t"n": 1 }}',
  },
  {
    title: 'the key of its call beside its args',
    cites: 'DS-IDEM-01@both',
    dialect: 'promptkit',
    call: { args: new Json('{"amount":250}'), idempotencyKey: 'run_1/refund/call' },
    wire: '{"args":{"amount":250},"idempotency_key":"run_1/refund/call"}',
  },
  {
    title: 'the key of its call and the approval',
    cites: 'DS-IDEM-01@both',
    dialect: 'promptkit',
    call: { args: new Json('{"amount":250}'), idempotencyKey: 'k', approval },
    wire: `{"args":{"amount":250},"idempotency_key":"k",${approvalText}}`,
  },
];

test.each(onTransports(calls))('a tool reads $title', async ({ call, dialect, on, wire }) => {
  const input = { name: 'w', callId: 'call_1', ...call };
  expect(requireNative(dialect).tool.encode(input)).toEqual({
    method: 'execute',
    body: wire,
    takesMeta: true,
  });
  const lines = await recorded({ dialect, on }, (bench, entry) =>
    runTool(bench.tool(entry), { input, call: 'c' }),
  );
  expect(lines).toEqual([wire]);
});

const toolCalls = [{ name: 'w', args: { city: 'NYC' }, result: '22C', error: '', index: 1 }];
const context = {
  messages: [{ role: 'user', content: 'hi' }] as const,
  turn_index: 1,
  tool_calls: toolCalls,
  variables: { tier: 'gold' },
  metadata: { model: 'm' },
  session_id: 'sess',
  prompt_id: 'prompt',
};

const requests: readonly (Row & { readonly input: EvalInput })[] = [
  {
    title: 'everything that is known',
    cites: 'PK-7-01@both PK-7-04@both',
    dialect: 'promptkit',
    input: { content: 'I’d be happy to help!', params: { language: 'en' }, context },
    wire:
      '{"type":"sentiment_check","params":{"language":"en"},"content":"I’d be happy to help!","context":{"messages":' +
      '[{"role":"user","content":"hi"}],"turn_index":1,"tool_calls":[{"name":"w","args":{"city":"NYC"},"result":"22C",' +
      '"error":"","index":1}],"variables":{"tier":"gold"},"metadata":{"model":"m"},"session_id":"sess","prompt_id":"prompt"}}',
  },
  {
    title: 'every member when nothing is known',
    cites: 'PK-7-01@both PK-7-03@both',
    dialect: 'promptkit',
    input: { content: '' },
    wire: '{"type":"sentiment_check","params":{},"content":"","context":{"messages":[],"turn_index":0,"tool_calls":[],"variables":{},"metadata":{}}}',
  },
  {
    title: 'the bytes of its params, on one line',
    cites: 'PK-7-01@both',
    dialect: 'promptkit',
    input: { content: '', params: new Json('{ "truth":12345678901234567890,\n"tolerance":1.10}') },
    wire:
      '{"type":"sentiment_check","params":{ "truth":12345678901234567890, "tolerance":1.10},"content":"","context":' +
      '{"messages":[],"turn_index":0,"tool_calls":[],"variables":{},"metadata":{}}}',
  },
  {
    title: 'Go names in its tool calls, and there only',
    cites: 'PK-6-18@both PK-6-19@both',
    dialect: 'promptkit-go',
    input: { content: 'ok', context },
    wire:
      '{"type":"sentiment_check","params":{},"content":"ok","context":{"messages":[{"role":"user","content":"hi"}],' +
      '"turn_index":1,"tool_calls":[{"Name":"w","Args":{"city":"NYC"},"Result":"22C","Error":"","Index":1}],' +
      '"variables":{"tier":"gold"},"metadata":{"model":"m"},"session_id":"sess","prompt_id":"prompt"}}',
  },
];

test.each(onTransports(requests))('an eval reads $title', async ({ input, dialect, on, wire }) => {
  const request = toEvalRequest('sentiment_check', input);
  expect(requireNative(dialect).eval.encode(request)).toEqual({
    method: 'execute',
    body: wire,
    takesMeta: true,
  });
  const lines = await recorded({ dialect, on }, (bench, entry) =>
    runEval(bench.evaluation(entry), { input: request, call: 'c' }),
  );
  expect(lines).toEqual([wire]);
});

test('members outside the wire format, such as a credential, are not sent', () => {
  const { context, ...request } = toEvalRequest('tone', { content: '' });
  const leaky = { ...request, key: 'secret', context: { ...context, api_key: 'secret' } };
  expect(requireNative('promptkit').eval.encode(leaky).body).not.toContain('secret');
});
