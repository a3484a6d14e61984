import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import type { Turn } from '../../../src/contract/turn.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import type { Payload, Question } from '../../../src/dialects/foreign-dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { payloads, questionAt, say, scene, seatAt } from './asking.ts';

const stdinOf = (question: Question) => JSON.parse(agentao.encode(seatAt(question.point), question).body);
const common = {
  session_id: 's1',
  transcript_path: '/run/s1.jsonl',
  cwd: '/project',
  permission_mode: 'workspace-write',
};
const call = { toolName: 'Bash', toolInput: { command: 'ls' }, sessionId: 's1' };
const flatCall = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: '' };
const session = { sessionId: 's1', cwd: '/project' };

const stdins: readonly { title: string; cites: string; point: string; data?: Payload; flat: Payload }[] =
  rowsOf<{ title: string; cites: string; point: string; data?: Payload; flat: Payload }>`
  title | cites | point | data | flat
  UserPromptSubmit | AO-5-01@oneshot AO-5-02@oneshot AO-5-08 | UserPromptSubmit | ${{ userMessage: 'hello', ...session }} | ${{ prompt: 'hello' }}
  SessionStart | AO-5-01@oneshot | SessionStart | ${session} | ${{ source: 'startup' }}
  SessionEnd | AO-5-01@oneshot | SessionEnd | ${session} | ${{ reason: 'other' }}
  PreToolUse | AO-5-01@oneshot AO-4-10 | PreToolUse | ${call} | ${flatCall}
  PostToolUse | AO-5-02@oneshot | PostToolUse | ${{ ...call, toolOutput: '{"files":1}' }} | ${{ ...flatCall, tool_response: { files: 1 } }}
  PostToolUseFailure | AO-5-02@oneshot | PostToolUseFailure | ${{ ...call, toolInput: {}, error: 'boom' }} | ${{ ...flatCall, tool_input: {}, error: 'boom' }}
  Stop | AO-5-04@oneshot AO-5-05 | Stop |  | ${{ stop_hook_active: false, last_assistant_message: 'done', turn_end_reason: 'final_response', at_max_iter: false }}
  PreCompact | AO-5-06 | PreCompact |  | ${{ trigger: 'manual', custom_instructions: '', compaction_type: 'full', reason: 'manual_cli' }}
`;

test.each(titled(stdins))('stdin of $title', ({ point, data, flat }) => {
  const envelope = data === undefined ? {} : { event: point, data };
  expect(stdinOf(questionAt(point))).toEqual({ ...envelope, hook_event_name: point, ...common, ...flat });
});

test('arguments keep their text, to the last digit [AO-5-09 AO-5-10]', () => {
  const toolInput = new Json('{ "n":12345678901234567890, "é":1.0 }');
  const { body, terminator } = agentao.encode(
    seatAt('PreToolUse'),
    questionAt('PreToolUse', { payload: { toolName: 'x', toolInput } }),
  );
  const written = '{"n": 12345678901234567890, "\\u00e9": 1.0}';
  const data = `{"toolName": "x", "toolInput": ${written}, "sessionId": "s1"}`;
  const flat = '"session_id": "s1", "transcript_path": "/run/s1.jsonl", "cwd": "/project"';
  expect([body, terminator]).toEqual([
    `{"event": "PreToolUse", "data": ${data}, "hook_event_name": "PreToolUse", ${flat}, "permission_mode": "workspace-write", "tool_name": "x", "tool_input": ${written}, "tool_use_id": ""}`,
    '',
  ]);
});

test.each([
  { tool: 'read_file', input: '{"path":"a"}', flat: { path: 'a', file_path: 'a' } },
  { tool: 'Write', input: '{"path":"a","file_path":"b"}', flat: { path: 'a', file_path: 'b' } },
  { tool: 'replace', input: '{"x":1}', flat: { x: 1 } },
  { tool: 'run_shell_command', input: '{"path":"a"}', flat: { path: 'a' } },
])('$tool with $input [AO-5-07]', ({ tool, input, flat }) => {
  const question = questionAt('PreToolUse', { payload: { toolName: tool, toolInput: new Json(input) } });
  const { data, tool_input } = stdinOf(question);
  expect([data.toolInput, tool_input]).toEqual([JSON.parse(input), flat]);
});

test('an error is cut in the envelope only [AO-5-03]', () => {
  const error = 'é'.repeat(300);
  const { data, error: whole } = stdinOf(
    questionAt('PostToolUseFailure', { payload: { toolName: 'x', error } }),
  );
  expect([data.error, whole]).toEqual(['é'.repeat(200), error]);
});

test('text that is no JSON value of parts stays a string [AO-5-02@oneshot]', () => {
  const given = { toolName: 'x', toolOutput: '12' };
  expect(stdinOf(questionAt('PostToolUse', { payload: given })).tool_response).toBe('12');
});

const compactions = [
  { given: {}, trigger: 'auto', reason: 'compression_threshold' },
  { given: { reason: 'manual_cli' }, trigger: 'manual', reason: 'manual_cli' },
  { given: { reason: 'api_overflow' }, trigger: 'auto', reason: 'api_overflow' },
];

test.each(compactions)('a compaction of $given is $trigger [AO-5-06]', ({ given, trigger, reason }) => {
  expect(stdinOf(questionAt('PreCompact', { payload: given }))).toMatchObject({ trigger, reason });
});

const refused = [
  { point: 'UserPromptSubmit', given: {}, names: 'userMessage' },
  { point: 'UserPromptSubmit', given: { userMessage: 1 }, names: 'userMessage' },
  { point: 'PreToolUse', given: {}, names: 'toolName' },
  { point: 'PreToolUse', given: { toolName: '' }, names: 'toolName' },
  { point: 'PreToolUse', given: { toolName: 'x', toolInput: [] }, names: 'toolInput' },
  { point: 'PostToolUse', given: { toolName: 'x' }, names: 'toolOutput' },
  { point: 'PostToolUseFailure', given: { toolName: 'x' }, names: 'error' },
  { point: 'Stop', given: { at_max_iter: 'no' }, names: 'at_max_iter' },
  { point: 'PreCompact', given: { trigger: null }, names: 'trigger' },
  { point: 'SessionStart', given: { cwd: 1 }, names: 'cwd' },
  { point: 'UserPromptSubmit', given: {}, names: 'prompt' },
  { point: 'PreToolUse', given: { data: {} }, names: 'tool_name' },
  { point: 'PreToolUse', given: { tool_name: 'x', tool_input: [] }, names: 'tool_input' },
  { point: 'PostToolUse', given: { tool_name: 'x' }, names: 'tool_response' },
  { point: 'SessionStart', given: { session_id: 1 }, names: 'session_id' },
  { point: 'SessionStart', given: { event: 'Stop' }, names: 'event' },
  { point: 'Stop', given: { event: 'SessionStart', data: {} }, names: 'event' },
  { point: 'Stop', given: { hook_event_name: 'SessionStart' }, names: 'hook_event_name' },
  { point: 'SessionStart', given: { data: 'x' }, names: 'data' },
  { point: 'PreToolUse', given: { toolName: 'x', permission_mode: 1 }, names: 'permission_mode' },
];

test.each(refused)(
  '$point with $given is refused by the name $names [AO-3-03]',
  ({ point, given, names }) => {
    const refusal = expect.objectContaining({
      code: 'EVENT_INVALID',
      message: expect.stringContaining(`\`${names}\``),
      hint: expect.stringContaining('docs/reference/dialects.md'),
    });
    expect(() => agentao.complete(point, given, scene)).toThrow(refusal);
    expect(() => agentao.complete(point, given, scene)).toThrow(RuntimeError);
  },
);

test.each(Object.keys(agentao.points))('a host can fire %s with what is on its stdin [AO-3-02]', (point) => {
  const error = 'é'.repeat(300);
  const payload = { ...payloads[point], ...(point === 'PostToolUseFailure' && { error }) };
  const place = { cwd: '/elsewhere', transcript_path: null, permission_mode: 'plan' };
  const stdin = { ...stdinOf(questionAt(point, { payload })), ...place };
  const { cwd } = place;
  const given = stdin.data?.cwd === undefined ? stdin : { ...stdin, data: { ...stdin.data, cwd } };
  const other = { ...scene, session_id: 's2' };
  expect(stdinOf(questionAt(point, { payload: given, hookContext: other }))).toEqual(given);
});

const spelled: readonly { title: string; point: string; given: Payload; data: Payload }[] = [
  {
    title: 'the envelope alone',
    point: 'PreToolUse',
    given: {
      event: 'PreToolUse',
      data: new Json('{"toolName":"Bash","toolInput":{"n":12345678901234567890}}'),
    },
    data: { ...call, toolInput: new Json('{"n":12345678901234567890}') },
  },
  {
    title: 'Claude’s names',
    point: 'PostToolUse',
    given: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { a: 1 }, session_id: 's2' },
    data: { ...call, sessionId: 's2', toolOutput: '{"a":1}' },
  },
  {
    title: 'Claude’s prompt',
    point: 'UserPromptSubmit',
    given: { hook_event_name: 'UserPromptSubmit', prompt: 'hi' },
    data: { userMessage: 'hi', sessionId: 's1' },
  },
  {
    title: 'Claude’s names beside an envelope that lacks them',
    point: 'PreToolUse',
    given: { data: { toolName: 'Bash' }, tool_name: 'other', tool_input: { command: 'ls' } },
    data: call,
  },
];

test.each(spelled)('a host may give $title [AO-3-02]', ({ point, given, data }) => {
  const completed = agentao.complete(point, given, scene);
  expect(new Json(Json.from(completed['data']).text).value).toEqual(new Json(Json.from(data).text).value);
});

test('flat events may stand in an envelope [AO-3-02]', () => {
  const given = { event: 'Stop', data: { last_assistant_message: 'bye' } };
  expect(agentao.complete('Stop', given, scene)).toEqual(
    agentao.complete('Stop', { last_assistant_message: 'bye' }, scene),
  );
});

test.each(Object.keys(agentao.points))('a host can fire %s [AO-3-02]', (point) => {
  expect(() => questionAt(point)).not.toThrow();
});

const request = { name: 'sh', args: { command: 'ls' }, call_id: 'c1', aliases: ['run_shell_command'] };
const response = { name: 'sh', call_id: 'c1', content: 'text', error: '', latency_ms: 1 };
const turn: Turn = {
  prompt: 'hello',
  system_prompt: '',
  messages: [],
  tools: [],
  provider_id: 'p',
  model: 'm',
  options: {},
};
const event = { session_id: 's1', conversation_id: 's1', messages: [], turn_index: 0, metadata: {} };
const told = { data: { ...call }, names: ['sh', 'run_shell_command', 'Bash'], tool_use_id: 'c1' };
const ended = { stop_hook_active: false, last_assistant_message: 'done' };

const described: readonly {
  title: string;
  cites: string;
  event: HookEvent;
  point: string;
  payload: Payload;
}[] = [
  {
    title: 'a session starts',
    cites: 'AO-3-01',
    event: { hook: 'session', phase: 'session_start', event },
    point: 'SessionStart',
    payload: { data: { sessionId: 's1' } },
  },
  {
    title: 'a session ends',
    cites: 'AO-3-01',
    event: { hook: 'session', phase: 'session_end', event },
    point: 'SessionEnd',
    payload: { data: { sessionId: 's1' } },
  },
  {
    title: 'a person speaks',
    cites: 'AO-3-01',
    event: { hook: 'turn', phase: 'prompt', turn },
    point: 'UserPromptSubmit',
    payload: { data: { userMessage: 'hello', sessionId: 's1' } },
  },
  {
    title: 'a tool is called',
    cites: 'AO-3-01 AO-4-10',
    event: { hook: 'tool', phase: 'before_execution', request },
    point: 'PreToolUse',
    payload: told,
  },
  {
    title: 'a tool has succeeded',
    cites: 'AO-3-06',
    event: { hook: 'tool', phase: 'after_execution', request, response },
    point: 'PostToolUse',
    payload: { ...told, data: { ...call, toolOutput: 'text' } },
  },
  {
    title: 'a tool has failed',
    cites: 'AO-3-06',
    event: { hook: 'tool', phase: 'after_execution', request, response: { ...response, error: 'boom' } },
    point: 'PostToolUseFailure',
    payload: { ...told, data: { ...call, error: 'boom' }, error: 'boom' },
  },
  {
    title: 'a turn has its answer',
    cites: 'AO-3-07',
    event: { hook: 'turn', phase: 'stop', turn, response: 'done', end: 'final_response' },
    point: 'Stop',
    payload: { ...ended, turn_end_reason: 'final_response', at_max_iter: false },
  },
  {
    title: 'a turn is at its limit',
    cites: 'AO-3-07 AO-5-05',
    event: { hook: 'turn', phase: 'stop', turn, response: 'done', end: 'max_iterations' },
    point: 'Stop',
    payload: { ...ended, turn_end_reason: 'max_iterations', at_max_iter: true },
  },
];

test.each(titled(described))('$title', ({ event: happened, point, payload }) => {
  expect(agentao.pointsAt(happened)).toEqual([point]);
  const plain = JSON.parse(JSON.stringify(agentao.describe(point, happened, scene)));
  expect(plain).toEqual(payload);
});

const ends = [
  { end: 'max_iterations', response: '', told: 'Maximum tool call iterations reached.' },
  { end: 'max_iterations', response: 'so far', told: 'so far' },
  { end: 'final_response', response: ' \n', told: '[No response]' },
  { end: 'final_response', response: '', reasoning: 'hm', told: '[No text response]' },
] as const;

test.each(titled(ends.map((row) => ({ ...row, title: JSON.stringify(row), cites: 'AO-5-11' }))))(
  '$title',
  ({ end, response, told, ...row }) => {
    const reasoning = 'reasoning' in row ? { reasoning: row.reasoning } : {};
    const messages = [...turn.messages, { role: 'assistant', content: response, ...reasoning }] as const;
    const event = { hook: 'turn', phase: 'stop', turn: { ...turn, messages }, response, end } as const;
    expect(agentao.describe('Stop', event, scene)).toMatchObject({ last_assistant_message: told });
  },
);

test('nothing fires for a tool that does not exist [AO-3-12]', () => {
  const unknown = { ...request, isUnknown: true };
  const events: HookEvent[] = [
    { hook: 'tool', phase: 'before_execution', request: unknown },
    { hook: 'tool', phase: 'after_execution', request: unknown, response: { ...response, error: 'no tool' } },
  ];
  expect(events.map((event) => agentao.pointsAt(event))).toEqual([[], []]);
});

test('no other event reaches a rule [AO-3-01]', () => {
  expect(agentao.pointsAt({ hook: 'turn', phase: 'turn_start', turn })).toEqual([]);
});

test('after a force the stop is marked [AO-8-10]', () => {
  const forced = { ...scene, forcedTurns: 1 };
  expect(stdinOf(questionAt('Stop', { hookContext: forced })).stop_hook_active).toBe(true);
  expect(
    agentao.describe(
      'Stop',
      { hook: 'turn', phase: 'stop', turn, response: '', end: 'final_response' },
      forced,
    ),
  ).toMatchObject({ stop_hook_active: true });
});

test('only the two that decide nothing run without an answer [AO-7-30@oneshot]', () => {
  const toldOnly = Object.entries(agentao.points).filter(([, { isFilter }]) => !isFilter);
  expect(toldOnly.map(([point]) => point)).toEqual(['SessionEnd', 'PreCompact']);
});

test('rules run one after another, none in the background [AO-6-04]', () => {
  expect(new Set(Object.values(agentao.points).map(({ order }) => order))).toEqual(new Set(['serial']));
  const question = questionAt('PreToolUse');
  expect(agentao.isBackground(seatAt('PreToolUse'), 'PreToolUse')).toBe(false);
  expect(
    agentao.nextPayload(question, {
      verdict: 'modify',
      replace: new Json('{"args":{}}'),
      reason: '',
      metadata: new Json('{}'),
    }),
  ).toBe(question.payload);
});

test('a prompt rule is its text, with the message in it [AO-6-07 AO-3-11]', () => {
  const seat = seatAt('UserPromptSubmit', { prompt: 'Say {userMessage} and {userMessage}, $ARGUMENTS.' });
  const question = questionAt('UserPromptSubmit', { payload: { userMessage: 'a $& b' } });
  const answer = agentao.staticAnswer(seat, question);
  expect(answer && say(answer)).toBe('allow "" ["Say a $& b and a $& b, $ARGUMENTS."]');
});

test('a command rule needs its process [AO-6-07]', () => {
  expect(agentao.staticAnswer(seatAt('UserPromptSubmit'), questionAt('UserPromptSubmit'))).toBeUndefined();
});

test('a rule of another event does not run [AO-4-01]', () => {
  const heard = Object.keys(payloads).filter((point) => agentao.selects(seatAt('Stop'), questionAt(point)));
  expect(heard).toEqual(['Stop']);
});
