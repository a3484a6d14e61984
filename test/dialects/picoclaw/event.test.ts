import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import type { Payload } from '../../../src/dialects/foreign-dialect.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { scene as bare, seatOf } from './seat.ts';

const scene = { ...bare, now: '2026-01-02T03:04:05.6Z' };
const request = { name: 'echo', args: new Json('{"a":12345678901234567890}'), call_id: 'c1' };
const response = { name: 'echo', call_id: 'c1', content: 'é', error: '', latency_ms: 1.5 };
const turn = {
  prompt: 'Hi',
  system_prompt: 'Be kind.',
  messages: [{ role: 'user', content: 'Hi', parts: [{ type: 'text', text: 'Hi' }, { type: 'image' }] }],
  tools: [],
  provider_id: 'main',
  model: 'm',
  options: { max_tokens: 9 },
} as const;
const started: HookEvent = { hook: 'tool', phase: 'started', request };

const params = (event: HookEvent, change: Parameters<typeof seatOf>[0] = {}) => {
  const payload = picoclaw.describe('event', event, scene);
  return picoclaw.encode(seatOf(change), { point: 'event', payload, hookContext: scene });
};

const meta =
  '{"AgentID":"main","TurnID":"main-turn-1","ParentTurnID":"","SessionKey":"sk","Iteration":1,"TracePath":"turn.tool.before","Source":"runTurn"}';
const inbound = '{"inbound":{"channel":"cli","chat_id":"sk","sender_id":""}}';
const payload = '{"Tool":"echo","Arguments":{"a":12345678901234567890}}';
const legacy = (kind: string) =>
  `{"Kind":${kind},"KindName":"tool_exec_start","Time":"2026-01-02T03:04:05.6Z","Meta":${meta},"Context":${inbound},"Payload":${payload}}`;
const newer = `{"id":"evt-main-turn-1-1-tool_exec_start-c1","kind":"agent.tool.exec_start","time":"2026-01-02T03:04:05.6Z","source":{"component":"agent","name":"main"},"scope":{"agent_id":"main","session_key":"sk","turn_id":"main-turn-1"},"correlation":{"trace_id":"turn.tool.before"},"severity":"info","payload":${payload},"attrs":{"agent_source":"runTurn","iteration":1}}`;

test('an event has the form of the hook’s version [PC-8-01 PC-8-02 PC-8-03 PC-1-10 PC-1-11 PC-1-12 PC-4-08 PC-5-01]', () => {
  expect(params(started)).toEqual({ method: 'hook.event', body: legacy('8'), timeoutMs: 14 });
  expect(params(started, { eventKind: 'name' }).body).toBe(legacy('"tool_exec_start"'));
  expect(params(started, { version: 'head' })).toEqual({
    method: 'hook.runtime_event',
    body: newer,
    timeoutMs: 14,
  });
});

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly event: HookEvent;
  readonly doc: readonly [number, string, Payload];
}

const error = { code: 'PROVIDER_FAILED', message: 'down', hint: '' } as const;
const ending = {
  hook: 'turn',
  phase: 'turn_end',
  isHandedBack: false,
  turn,
  response: 'é',
  original_prompt: 'Hi',
  duration_ms: 2,
} as const;
const ended = { Iterations: 1, Duration: 2000000, FinalContentLen: 2 };

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | event | doc
  turn_start | PC-8-05 | ${{ hook: 'turn', phase: 'turn_start', turn }} | ${[0, 'info', { UserMessage: 'Hi', MediaCount: 1 }]}
  turn_end | PC-8-05 PC-8-06 | ${{ ...ending, status: 'completed' }} | ${[1, 'info', { Status: 'completed', ...ended }]}
  turn_end of a failed turn | PC-8-04 | ${{ ...ending, status: 'failed' }} | ${[1, 'error', { Status: 'error', ...ended }]}
  turn_end of a denied turn | PC-8-04 | ${{ ...ending, status: 'denied' }} | ${[1, 'error', { Status: 'error', ...ended }]}
  llm_request | PC-8-05 | ${{ hook: 'turn', phase: 'model_asked', turn }} | ${[2, 'info', { Model: 'm', MessagesCount: 2, ToolsCount: 0, MaxTokens: 9, Temperature: 0 }]}
  tool_exec_skipped | PC-8-05 PC-8-04 | ${{ hook: 'tool', phase: 'blocked', request, response, reason: 'no' }} | ${[10, 'warn', { Tool: 'echo', Reason: 'no' }]}
  error | PC-8-05 PC-8-04 | ${{ hook: 'turn', phase: 'error', turn, stage: 'llm', error }} | ${[18, 'error', { Stage: 'llm', Message: 'down' }]}
`,
  {
    title: 'llm_response',
    cites: 'PC-8-05',
    event: {
      hook: 'turn',
      phase: 'model_answered',
      turn,
      message: {
        role: 'assistant',
        content: 'é',
        reasoning: 'hm',
        tool_calls: [{ id: '1', name: 'a', args: {} }],
      },
    },
    doc: [4, 'info', { ContentLen: 2, ToolCalls: 1, HasReasoning: true }],
  },
  {
    title: 'llm_retry',
    cites: 'PC-8-05 PC-8-04',
    event: {
      hook: 'turn',
      phase: 'model_retried',
      turn,
      retry: 1,
      max_retries: 2,
      error: { code: 'PROVIDER_FAILED', message: 'down', hint: '' },
      backoff_ms: 2,
    },
    doc: [5, 'warn', { Attempt: 1, MaxRetries: 2, Reason: 'error', Error: 'down', Backoff: 2000000 }],
  },
  {
    title: 'tool_exec_end',
    cites: 'PC-8-05',
    event: { hook: 'tool', phase: 'finished', request, asked: {}, response, status: 'ok', isFlow: false },
    doc: [
      9,
      'info',
      { Tool: 'echo', Duration: 1500000, ForLLMLen: 2, ForUserLen: 0, IsError: false, Async: false },
    ],
  },
  {
    title: 'tool_exec_end of a failed call',
    cites: 'PC-8-04',
    event: { hook: 'tool', phase: 'finished', request, asked: {}, response, status: 'failed', isFlow: false },
    doc: [
      9,
      'warn',
      { Tool: 'echo', Duration: 1500000, ForLLMLen: 2, ForUserLen: 0, IsError: true, Async: false },
    ],
  },
];

test.each(titled(rows))('$title', ({ event, doc }) => {
  const old = JSON.parse(params(event).body);
  const head = JSON.parse(params(event, { version: 'head' }).body);
  expect(picoclaw.pointsAt(event)).toEqual(['event']);
  expect([old.Kind, head.severity, old.Payload]).toEqual(doc);
  expect(head.payload).toMatchObject(doc[2]);
});

test('turn_end has more members at head [PC-8-06]', () => {
  const messages = [
    { role: 'tool', content: 'old', tool_result: { id: '0', name: 'old' } },
    { role: 'user', content: 'Hi' },
    { role: 'tool', content: 'no', tool_result: { id: '1', name: 'echo', error: 'no' } },
  ] as const;
  const told = picoclaw.describe('event', { ...ending, status: 'completed' }, { ...scene, messages });
  const { body } = picoclaw.encode(seatOf({ version: 'head' }), {
    point: 'event',
    payload: told,
    hookContext: scene,
  });
  expect(JSON.parse(body).payload).toEqual({
    Status: 'completed',
    ...ended,
    Workspace: '',
    UserMessage: 'Hi',
    FinalContent: 'é',
    ActiveSkills: [],
    AttemptedSkills: [],
    FinalSuccessfulPath: [],
    SkillContextSnapshots: [],
    ToolKinds: ['echo'],
    ToolExecutions: [{ name: 'echo', success: false, error_summary: 'no', skill_names: [] }],
  });
});

test('a denial is reported once, and events that PicoClaw does not have are not [PC-8-05]', () => {
  const denied: HookEvent = {
    hook: 'tool',
    phase: 'finished',
    request,
    asked: {},
    response,
    status: 'denied',
    isFlow: false,
  };
  const stop: HookEvent = { hook: 'turn', phase: 'stop', turn, response: '', end: 'final_response' };
  expect([denied, stop].map((event) => picoclaw.pointsAt(event))).toEqual([[], []]);
});

const hears = (observe: readonly string[], version: 'head' | '0.2.8-doc', kind: string) => {
  const told = picoclaw.complete('runtime_event', { kind }, scene);
  return picoclaw.selects(seatOf({ observe, version }), {
    point: 'runtime_event',
    payload: told,
    hookContext: scene,
  });
};

test('observe has exact names of either form, or every kind [PC-1-13 PC-8-07 PC-8-08]', () => {
  const kinds = ['agent.tool.exec_start', 'agent.tool.exec_end', 'mcp.server.failed'];
  const heard = (observe: string[], version: 'head' | '0.2.8-doc') =>
    kinds.filter((kind) => hears(observe, version, kind));
  expect(heard(['tool_exec_start'], 'head')).toEqual([kinds[0]]);
  expect(heard(['agent.tool.exec_start'], '0.2.8-doc')).toEqual([kinds[0]]);
  expect(heard(['agent.*', 'tool'], 'head')).toEqual([]);
  expect(heard(['mcp.server.failed'], 'head')).toEqual([kinds[2]]);
  expect(heard(['mcp.server.failed'], '0.2.8-doc')).toEqual([]);
  for (const every of ['*', 'all', '']) {
    expect(heard(['turn_end', every], 'head')).toEqual(kinds);
    expect(heard([every], '0.2.8-doc')).toEqual(kinds.slice(0, 2));
  }
  expect(heard([], 'head')).toEqual([]);
});

test('a host may fire either form, and each hook receives its own [PC-8-01 PC-8-02]', () => {
  const fired = picoclaw.complete(
    'runtime_event',
    { kind: 'agent.llm.retry', payload: { Attempt: 1 } },
    scene,
  );
  const old = JSON.parse(
    picoclaw.encode(seatOf(), { point: 'runtime_event', payload: fired, hookContext: scene }).body,
  );
  expect([old.Kind, old.KindName, old.Meta.TurnID, old.Payload]).toEqual([
    5,
    'llm_retry',
    'main-turn-1',
    { Attempt: 1 },
  ]);
  const given = picoclaw.complete('event', { Kind: 5, Payload: { Attempt: 1 } }, scene);
  const message = picoclaw.encode(seatOf({ version: 'head' }), {
    point: 'event',
    payload: given,
    hookContext: scene,
  });
  expect(message.method).toBe('hook.runtime_event');
  expect(JSON.parse(message.body)).toMatchObject({
    kind: 'agent.llm.retry',
    severity: 'warn',
    payload: { Attempt: 1 },
  });
});
