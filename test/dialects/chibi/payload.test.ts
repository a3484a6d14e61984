import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent, ToolHookRequest } from '../../../src/contract/hook.ts';
import type { Turn } from '../../../src/contract/turn.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { questionAt, scene, seatOf } from './asking.ts';

const turn: Turn = {
  prompt: 'hi',
  system_prompt: 'be kind',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [
    { name: 'sh', description: 'runs', input_schema: { type: 'object' }, category: 'shell' },
    { name: 'sum', description: '', input_schema: {} },
  ],
  provider_id: 'main',
  model: 'm1',
  options: { max_tokens: 10 },
};
const args = new Json('{"b": 12345678901234567890, "a": {"d": 1, "c": 2}}');
const request: ToolHookRequest = { name: 'sum', args, call_id: 'c1' };
const response = { name: 'sum', call_id: 'c1', content: 'done', error: '', latency_ms: 1 };
const session = { session_id: 's1', conversation_id: 's1', messages: [], turn_index: 0, metadata: {} };
const calls = [{ name: 'sum', call_id: 'c1', args, content: 'done' }];
const sorted = '{"a":{"c":2,"d":1},"b":12345678901234567890}';
const folders = '"chibi_home":"/home/me/.chibi","project_root":"/project","tool_count":0';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly event: HookEvent;
  /** A line for each point: its name and its stdin. */
  readonly sends: readonly string[];
}

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | event | sends
  session_start | CH-7-01@oneshot | ${{ hook: 'session', phase: 'session_start', event: session }} | ${[`on_start {${folders}}`]}
  session_end | CH-7-02@oneshot | ${{ hook: 'session', phase: 'session_end', event: session }} | ${[`on_end {${folders}}`]}
  prompt | CH-7-03@oneshot | ${{ hook: 'turn', phase: 'prompt', turn }} | ${['pre_message {"context_name":"desk","prompt":"hi","summary":""}']}
  before_execution | CH-7-07@oneshot | ${{ hook: 'tool', phase: 'before_execution', request }} | ${[`pre_tool {"arguments":${sorted},"tool_name":"sum"}`]}
  an event that chibi does not have | CH-9-01@oneshot | ${{ hook: 'tool', phase: 'started', request }} | ${[]}
`,
  {
    title: 'system_prompt',
    cites: 'CH-7-05@oneshot CH-7-06@oneshot',
    event: { hook: 'turn', phase: 'system_prompt', turn },
    sends: [
      'pre_system_prompt {"context_name":"desk","flock_goals":[],"summary":""}',
      'post_system_prompt {"context_name":"desk","flock_goals":[],"summary":""}',
    ],
  },
  {
    title: 'tool_list',
    cites: 'CH-7-11@oneshot CH-7-41@oneshot',
    event: { hook: 'turn', phase: 'tool_list', turn },
    sends: [
      'pre_api_tools {"context_name":"desk","fuel_remaining":30,"fuel_total":40,"tools":[{"name":"sh","type":"shell"},{"name":"sum","type":"plugin"}]}',
    ],
  },
  {
    title: 'request',
    cites: 'CH-7-12@oneshot',
    event: { hook: 'turn', phase: 'request', turn: { ...turn, tools: turn.tools.slice(1) } },
    sends: [
      'pre_api_request {"context_name":"desk","fuel_remaining":30,"fuel_total":40,"request_body":{"max_tokens":10,"messages":[{"content":"be kind","role":"system"},{"content":"hi","role":"user"}],"model":"m1","stream":false,"tools":[{"function":{"description":"","name":"sum","parameters":{}},"type":"function"}]}}',
    ],
  },
  {
    title: 'loop',
    cites: 'CH-7-13@oneshot',
    event: { hook: 'turn', phase: 'loop', turn },
    sends: [
      'pre_agentic_loop {"context_name":"desk","current_fallback":"call_user","fuel_remaining":30,"fuel_total":40,"message":"hi"}',
    ],
  },
  {
    title: 'batch',
    cites: 'CH-7-14@oneshot',
    event: { hook: 'turn', phase: 'batch', turn, calls },
    sends: [
      `post_tool_batch {"context_name":"desk","current_fallback":"call_user","fuel_remaining":30,"fuel_total":40,"tool_calls":[{"arguments":${sorted},"name":"sum"}]}`,
    ],
  },
  {
    title: 'arguments that are no object',
    cites: 'CH-7-07@oneshot',
    event: { hook: 'tool', phase: 'before_execution', request: { ...request, args: '{"a' } },
    sends: ['pre_tool {"arguments":{},"tool_name":"sum"}'],
  },
  {
    title: 'after_execution',
    cites: 'CH-7-09@oneshot',
    event: { hook: 'tool', phase: 'after_execution', request, response },
    sends: [`pre_tool_output {"arguments":${sorted},"output":"done","tool_name":"sum"}`],
  },
  {
    title: 'a failed call',
    cites: 'CH-3-10@oneshot',
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request,
      response: { ...response, content: 'Tool "sum" failed: boom', error: 'boom' },
    },
    sends: [`pre_tool_output {"arguments":${sorted},"output":"Error: boom","tool_name":"sum"}`],
  },
  {
    title: 'a blocked call',
    cites: 'CH-6-14@oneshot',
    event: { hook: 'tool', phase: 'blocked', request, response, reason: 'no', stage: 'before_execution' },
    sends: [`pre_tool_output {"arguments":${sorted},"output":"no","tool_name":"sum"}`],
  },
  {
    title: 'a call that was refused',
    cites: 'CH-6-04@oneshot',
    event: {
      hook: 'tool',
      phase: 'blocked',
      request: { ...request, category: 'fs_read' },
      response,
      reason: 'no',
      stage: 'approval',
    },
    sends: [`pre_tool_output {"arguments":${sorted},"output":"Permission denied: no","tool_name":"sum"}`],
  },
  {
    title: 'a shell that was refused',
    cites: 'CH-6-04@oneshot',
    event: {
      hook: 'tool',
      phase: 'blocked',
      request: { ...request, category: 'shell' },
      response,
      reason: 'no',
      stage: 'approval',
    },
    sends: [`pre_tool_output {"arguments":${sorted},"output":"no","tool_name":"sum"}`],
  },
  {
    title: 'finished',
    cites: 'CH-7-10@oneshot',
    event: {
      hook: 'tool',
      phase: 'finished',
      request,
      asked: { z: 1 },
      response,
      status: 'ok',
      isFlow: false,
    },
    sends: [
      `post_tool_output {"arguments":${sorted},"cached":false,"final_output":"done","output":"done","tool_name":"sum"}`,
    ],
  },
  {
    title: 'returned',
    cites: 'CH-7-08@oneshot',
    event: {
      hook: 'tool',
      phase: 'returned',
      request,
      asked: { z: 1 },
      response,
      status: 'ok',
      isFlow: false,
    },
    sends: ['post_tool {"arguments":{"z":1},"cached":false,"result":"done","tool_name":"sum"}'],
  },
  {
    title: 'an answer',
    cites: 'CH-7-04@oneshot',
    event: { hook: 'turn', phase: 'answered', turn, response: 'bye', original_prompt: 'hello' },
    sends: ['post_message {"context_name":"desk","original_prompt":"hello","prompt":"hi","response":"bye"}'],
  },
  {
    title: 'the end of a turn, whose answers have been told',
    cites: 'CH-9-04@oneshot',
    event: {
      hook: 'turn',
      phase: 'turn_end',
      turn,
      response: 'bye',
      status: 'completed',
      isHandedBack: false,
      original_prompt: 'hello',
      duration_ms: 5,
    },
    sends: [],
  },
];

function sendsOf(event: HookEvent): string[] {
  return chibi.pointsAt(event).map((point) => {
    const question = questionAt(point, chibi.describe(point, event, scene));
    return `${point} ${chibi.encode(seatOf('guard'), question).body}`;
  });
}

test.each(titled(rows))('$title', ({ event, sends }) => {
  expect(sendsOf(event)).toEqual(sends);
});

test('without a limit there is no fuel [CH-7-36@oneshot]', () => {
  const event: HookEvent = { hook: 'turn', phase: 'loop', turn };
  expect(chibi.describe('pre_agentic_loop', event, { ...scene, fuel: null })).toEqual({
    context_name: 'desk',
    current_fallback: 'call_user',
    message: 'hi',
  });
});

test('a host supplies its summary, goals and number of tools', () => {
  const host = { summary: 's', flock_goals: [{ flock: 'f', goals: 'g' }], tool_count: 3 };
  const event: HookEvent = { hook: 'turn', phase: 'system_prompt', turn };
  const start: HookEvent = { hook: 'session', phase: 'session_start', event: session };
  expect([
    chibi.describe('pre_system_prompt', event, { ...scene, host }),
    chibi.describe('on_start', start, { ...scene, host }),
  ]).toEqual([
    { context_name: 'desk', summary: 's', flock_goals: [{ flock: 'f', goals: 'g' }] },
    { tool_count: 3 },
  ]);
});

test('a hook call has the point in its environment and nothing after the event [CH-4-01@oneshot CH-8-03@oneshot CH-8-04@oneshot]', () => {
  const question = questionAt('pre_tool', { tool_name: 'x', arguments: {} });
  expect(chibi.encode(seatOf('guard'), question)).toStrictEqual({
    method: 'pre_tool',
    body: '{"arguments":{},"tool_name":"x"}',
    terminator: '',
    env: {
      CHIBI_HOOK: 'pre_tool',
      CHIBI_TOOL_NAME: undefined,
      CHIBI_TOOL_ARGS: undefined,
      CHIBI_HOOK_DATA: undefined,
      CHIBI_CONTEXT: 'desk',
    },
  });
});

test('the context is that of the payload, if it has one [CH-8-03@oneshot]', () => {
  const contexts = [
    questionAt('pre_clear', { context_name: 'other' }),
    questionAt('pre_tool', {}, { ...scene, context_name: '' }),
  ].map((question) => chibi.encode(seatOf('guard'), question).env?.['CHIBI_CONTEXT']);
  expect(contexts).toEqual(['other', undefined]);
});

test('hooks run one after another, each with the same payload, until one aborts [CH-4-03@oneshot]', () => {
  const asked = Object.values(chibi.points).filter(({ isFilter }) => isFilter);
  expect(new Set(asked.map(({ order, ends }) => `${order} ${ends}`))).toEqual(new Set(['serial abort']));
  const question = questionAt('pre_message', { prompt: 'a' });
  expect(chibi.nextPayload(question, { verdict: 'allow', reason: '', metadata: new Json('{}') })).toBe(
    question.payload,
  );
});

test('a plugin receives the points that it registered', () => {
  const seat = seatOf('guard');
  const deaf = { ...seat, settings: { ...seat.settings, points: ['on_start'] } };
  expect([seat, deaf].map((each) => chibi.selects(each, questionAt('pre_tool')))).toEqual([true, false]);
});
