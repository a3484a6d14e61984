import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import type { HookContext, Turn } from '../../../src/contract/turn.ts';
import { claudeEvents, claudeGuardEvents } from '../../../src/dialects/claude/config/settings.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { eventRules, isClosable } from '../../../src/dialects/claude/points.ts';
import { given, left, questionAt, scene, seatAt } from './handler.ts';

const turn: Turn = {
  prompt: 'hello',
  system_prompt: '',
  messages: [],
  tools: [],
  provider_id: 'p',
  model: 'm',
  options: {},
};
const request = {
  name: 'run',
  aliases: ['Bash'],
  args: new Json('{"n": 12345678901234567890}'),
  call_id: 'c1',
};
const about = { name: 'run', call_id: 'c1', latency_ms: 7 };
const call = { tool_name: 'Bash', tool_input: { n: 0 } };

interface Row {
  readonly event: HookEvent;
  readonly payloads: Readonly<Record<string, object>>;
  readonly at?: Partial<HookContext>;
}

const session = { session_id: 's1', conversation_id: 's1', messages: [], turn_index: 0, metadata: {} };
const ended = { background_tasks: [], session_crons: [] };

const rows: readonly Row[] = [
  {
    event: { hook: 'session', phase: 'session_start', event: session },
    payloads: { SessionStart: { source: 'startup' } },
  },
  {
    event: { hook: 'session', phase: 'session_start', event: session },
    at: { isResumed: true },
    payloads: { SessionStart: { source: 'resume' } },
  },
  {
    event: { hook: 'session', phase: 'session_end', event: session },
    payloads: { SessionEnd: { reason: 'other' } },
  },
  { event: { hook: 'session', phase: 'session_update', event: session }, payloads: {} },
  { event: { hook: 'turn', phase: 'prompt', turn }, payloads: { UserPromptSubmit: { prompt: 'hello' } } },
  {
    event: { hook: 'tool', phase: 'before_execution', request },
    payloads: { PreToolUse: { ...call, tool_use_id: 'c1' } },
  },
  { event: { hook: 'tool', phase: 'approval', request, asked: null }, payloads: {} },
  {
    event: { hook: 'tool', phase: 'approval', request, asked: { hook: 'a', reason: 'r' } },
    payloads: { PermissionRequest: call },
  },
  {
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request,
      response: { ...about, content: '{"a": [1]}', error: '', result: Json.from({ a: [1] }) },
    },
    payloads: { PostToolUse: { ...call, tool_response: { a: [1] }, tool_use_id: 'c1', duration_ms: 7 } },
  },
  {
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request,
      response: { ...about, content: '12', error: '', result: Json.from('12') },
    },
    payloads: { PostToolUse: { ...call, tool_response: '12', tool_use_id: 'c1', duration_ms: 7 } },
  },
  {
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request,
      response: { ...about, content: 'x', error: 'bad' },
    },
    payloads: { PostToolUseFailure: { ...call, error: 'bad', tool_use_id: 'c1', duration_ms: 7 } },
  },
  {
    event: {
      hook: 'turn',
      phase: 'batch',
      turn,
      calls: [{ name: 'run', call_id: 'c1', args: request.args, content: '{"a": 1}' }],
    },
    payloads: {
      PostToolBatch: {
        tool_calls: [
          { tool_name: 'run', tool_input: { n: 0 }, tool_use_id: 'c1', tool_response: '{"a": 1}' },
        ],
      },
    },
  },
  {
    event: { hook: 'tool', phase: 'pending', request, id: 'p1', message: 'may it?' },
    payloads: {
      Notification: { message: 'may it?', notification_type: 'permission_prompt', pending_id: 'p1' },
    },
  },
  {
    event: { hook: 'turn', phase: 'stop', turn, response: 'done', end: 'final_response' },
    payloads: { Stop: { stop_hook_active: false, last_assistant_message: 'done', ...ended } },
  },
  {
    event: { hook: 'turn', phase: 'stop', turn, response: 'done', end: 'final_response' },
    at: { forcedTurns: 1 },
    payloads: { Stop: { stop_hook_active: true, last_assistant_message: 'done', ...ended } },
  },
  { event: { hook: 'turn', phase: 'stop', turn, response: '', end: 'max_iterations' }, payloads: {} },
  ...(
    [
      [429, 'rate_limit'],
      [529, 'overloaded'],
      [401, 'authentication_failed'],
      [404, 'model_not_found'],
      [400, 'invalid_request'],
      [500, 'server_error'],
      [418, 'unknown'],
    ] as const
  ).map(([status, error]): Row => {
    const fault = { code: 'PROVIDER_FAILED', message: 'no', hint: '', details: { status } } as const;
    return {
      event: { hook: 'turn', phase: 'error', turn, stage: 'llm', error: fault },
      payloads: { StopFailure: { error, error_details: 'no' } },
    };
  }),
];

const common = {
  session_id: 's1',
  prompt_id: 'p1',
  transcript_path: '/t/s1.jsonl',
  cwd: '/project',
  permission_mode: 'default',
};

/** The parsed body, without the digits that JSON.parse would lose. */
function bodyOf(point: string, event: HookEvent, at: HookContext): unknown {
  const payload = claude.describe(point, event, at);
  const { body } = claude.encode(seatAt(point), { point, payload, hookContext: at });
  return JSON.parse(body.replaceAll('12345678901234567890', '0'));
}

test.each(rows)(
  '$event.phase reaches $payloads [CC-4-01 CC-4-03 CC-4-05 CC-4-06 CC-5-02 CC-5-04 CC-8-06]',
  (row) => {
    const at = { ...scene, ...row.at };
    const bodies = claude.pointsAt(row.event).map((point) => [point, bodyOf(point, row.event, at)]);
    expect(Object.fromEntries(bodies)).toEqual(
      Object.fromEntries(
        Object.entries(row.payloads).map(([point, payload]) => [
          point,
          { ...common, hook_event_name: point, ...payload },
        ]),
      ),
    );
  },
);

test('arguments keep their exact text, on one line [CC-4-08]', () => {
  const event: HookEvent = {
    hook: 'tool',
    phase: 'before_execution',
    request: { ...request, args: new Json('{"n":\n12345678901234567890, "x": 1.10}') },
  };
  const { body } = claude.encode(seatAt('PreToolUse'), {
    point: 'PreToolUse',
    payload: claude.describe('PreToolUse', event, scene),
    hookContext: scene,
  });
  expect(body).toBe(
    '{"session_id":"s1","prompt_id":"p1","transcript_path":"/t/s1.jsonl","cwd":"/project","permission_mode":"default",' +
      '"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"n": 12345678901234567890, "x": 1.10},"tool_use_id":"c1"}',
  );
});

test('paths of file tools are absolute [CC-4-04]', () => {
  const paths = ['Write', 'Edit', 'Read', 'Other'].map((tool_name) => {
    const question = questionAt('PreToolUse', {
      tool_name,
      tool_input: new Json('{"file_path": "a.ts", "n": 12345678901234567890}'),
    });
    return claude.encode(seatAt('PreToolUse'), question).body.match(/"tool_input":(\{[^}]*\})/)?.[1];
  });
  const absolute = '{"file_path":"/project/a.ts","n":12345678901234567890}';
  expect(paths).toEqual([absolute, absolute, absolute, '{"file_path": "a.ts", "n": 12345678901234567890}']);
});

test('a file tool may have a name of its own, and be one of a batch [CC-4-04]', () => {
  const args = { file_path: 'a.ts' };
  const about = { name: 'patch', aliases: ['apply', 'Edit'], args, call_id: 'c1' };
  const events: HookEvent[] = [
    { hook: 'tool', phase: 'before_execution', request: about },
    {
      hook: 'turn',
      phase: 'batch',
      turn,
      calls: [
        { ...about, content: 'x' },
        { ...about, aliases: [], content: 'x' },
      ],
    },
  ];
  const bodies = events.map((event) => JSON.stringify(bodyOf(claude.pointsAt(event)[0] ?? '', event, scene)));
  const absolute = '/project/a.ts';
  expect(bodies.map((body) => body.match(/[^"]*a\.ts/g))).toEqual([[absolute], [absolute, 'a.ts']]);
});

test('a host’s own members are in every payload [CC-4-02]', () => {
  const at = { ...scene, host: { effort: { level: 'high' }, agent_id: 'a', channel: 'x' } };
  expect(JSON.parse(claude.encode(seatAt('Stop'), questionAt('Stop', {}, at)).body)).toEqual({
    ...common,
    hook_event_name: 'Stop',
    effort: { level: 'high' },
    agent_id: 'a',
    stop_hook_active: false,
    last_assistant_message: '',
    ...ended,
  });
});

test('common fields may come from a host [CC-5-03]', () => {
  const question = questionAt('CwdChanged', { session_id: 's2', cwd: '/b', permission_mode: 'plan' });
  const { session_id, cwd, permission_mode } = JSON.parse(claude.encode(seatAt('CwdChanged'), question).body);
  expect([session_id, cwd, permission_mode]).toEqual(['s2', '/b', 'plan']);
});

test('four events receive the env file [CC-3-05@oneshot]', () => {
  const at = { ...scene, host: { env_file: '/e' } };
  const told = claudeEvents.filter((point) => {
    const { env } = claude.encode(seatAt(point), questionAt(point, {}, at));
    return env?.['CLAUDE_ENV_FILE'] === '/e';
  });
  expect(told).toEqual(['SessionStart', 'Setup', 'CwdChanged', 'FileChanged']);
});

test('the metadata has the path of the env file, whatever the handler did [CC-3-07]', () => {
  const question = questionAt('Setup', {}, { ...scene, host: { env_file: '/e' } });
  const replies = [left('{"systemMessage": "hi"}'), left('', { exitCode: 1 })];
  const read = replies.map((reply) => claude.decode(seatAt('Setup'), question, reply).output.metadata.value);
  expect(read).toEqual([
    { system_message: 'hi', env_file: '/e' },
    { failed_open: { hook: 'guard', cause: 'claude.exit_other' }, env_file: '/e' },
  ]);
});

test('there are 33 events, and the same ones deny on failure [CC-5-01]', () => {
  // A failed WorktreeCreate denies by default.
  const closable = claudeEvents.filter((event) => {
    const rule = eventRules[event];
    return rule !== undefined && event !== 'WorktreeCreate' && isClosable(rule);
  });
  expect([Object.keys(claude.points), new Set(closable)]).toEqual([[...claudeEvents], claudeGuardEvents]);
});

test('seven events only inform [CC-5-07]', () => {
  expect(claudeEvents.filter((event) => claude.points[event]?.isFilter === false)).toEqual([
    'Notification',
    'StopFailure',
    'InstructionsLoaded',
    'DirectoryAdded',
    'WorktreeRemove',
    'PostCompact',
    'SessionEnd',
  ]);
});

const wrong = [
  ['Nothing', {}, 'claude has no event "Nothing"'],
  ['constructor', {}, 'claude has no event "constructor"'],
  ['PreToolUse', { tool_input: {} }, 'PreToolUse has no `tool_name`'],
  ['PreToolUse', { tool_name: 'a', tool_input: [] }, 'the `tool_input` of PreToolUse is not an object'],
  [
    'PreToolUse',
    { tool_name: 'a', tool_input: new Json('"x"') },
    'the `tool_input` of PreToolUse is not an object',
  ],
  ['Stop', { stop_hook_active: 'no' }, 'the `stop_hook_active` of Stop is not a boolean'],
  ['Stop', { session_id: 1 }, 'the `session_id` of Stop is not a string'],
  ['Stop', { hook_event_name: 'Start' }, 'the `hook_event_name` of Stop is "Start"'],
] as const;

test.each(wrong)('%s with %j is refused [CC-5-03]', (point, payload, message) => {
  expect(() => claude.complete(point, payload, scene)).toThrow(
    expect.objectContaining({
      code: 'EVENT_INVALID',
      message,
      hint: expect.stringContaining('docs/reference/dialects.md'),
    }),
  );
});

test('the required members of each event suffice, and further members stay [CC-5-03]', () => {
  const kept = claudeEvents.map((point) => claude.complete(point, { ...given[point], own: 1 }, scene)['own']);
  expect(kept).toEqual(claudeEvents.map(() => 1));
});
