import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Json, openRuntime, type RuntimeEvent } from '../../../src/index.ts';
import { type LogOptions, openLog } from '../../../src/runtime/log/log.ts';
import { write } from '../open.ts';

function logged(
  events: readonly RuntimeEvent[],
  {
    logging,
    ...options
  }: Partial<Omit<LogOptions, 'logging' | 'target'>> & {
    logging?: Partial<LogOptions['logging']>;
    isTerminal?: boolean;
    hasColour?: boolean;
  } = {},
): string {
  const { isTerminal = false, hasColour = false, ...rest } = options;
  return written((fd) => {
    const log = openLog({
      name: 'desk',
      secrets: [],
      ...rest,
      logging: { level: 'trace', fields: {}, ...logging },
      target: { fd, isTerminal, hasColour },
    });
    for (const event of events) log(event);
  });
}

function written(work: (fd: number) => void): string {
  const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'log');
  const fd = openSync(file, 'a');
  work(fd);
  closeSync(fd);
  return readFileSync(file, 'utf8');
}

function linesOf(text: string): Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const { time, ...members } = JSON.parse(line);
      expect(time).toEqual(expect.any(Number));
      return members;
    });
}

const metadata = new Json('{"id": 12345678901234567890}');
const about = { name: 'guard' };

const call = { capability: 'tool', name: 'echo', call: 'c-1' } as const;
const times = { durationMs: 5, queueMs: 0 };
const untold = { code: 'PROCESS_EXIT', message: 'the observer exited with code 3' } as const;

const rows: readonly (readonly [level: number, msg: string, event: RuntimeEvent])[] = [
  [20, 'tool echo started', { type: 'call.started', ...call }],
  [20, 'tool echo: ok in 5 ms', { type: 'call.finished', ...call, status: 'ok', ...times }],
  [
    40,
    'hook guard: untold in 5 ms: the observer exited with code 3',
    {
      type: 'call.finished',
      ...call,
      capability: 'hook',
      ...about,
      status: 'untold',
      ...times,
      error: untold,
    },
  ],
  [20, 'guard: process 7 started', { type: 'process.started', ...about, pid: 7 }],
  [
    20,
    'guard: process 7 ended with 3',
    { type: 'process.ended', ...about, pid: 7, exitCode: 3, signal: null },
  ],
  [
    20,
    'guard: process 7 ended with SIGKILL',
    { type: 'process.ended', ...about, pid: 7, exitCode: null, signal: 'SIGKILL' },
  ],
  [30, 'guard: started again as process 8', { type: 'process.restarted', ...about, pid: 8, deaths: 1 }],
  [
    40,
    'guard: ended 5 times in a row, calls are paused for 30 s',
    { type: 'circuit.opened', ...about, deaths: 5, pauseMs: 30_000 },
  ],
  [30, 'guard: thinking', { type: 'stderr', ...about, pid: 7, line: 'thinking' }],
  [30, 'guard: noise dropped: hello', { type: 'dropped', ...about, what: 'noise', detail: 'hello' }],
  [
    20,
    'guard: late reply dropped: request 1',
    { type: 'dropped', ...about, what: 'late reply', detail: 'request 1' },
  ],
  [
    40,
    'guard: unknown reply dropped: request 9',
    { type: 'dropped', ...about, what: 'unknown reply', detail: 'request 9' },
  ],
  [
    40,
    'guard: observer event dropped: session_end',
    { type: 'dropped', ...about, what: 'observer event', detail: 'session_end' },
  ],
];
const events = rows.map(([, , event]) => event);

test.each(rows)('an event is logged at level %i, with all its members: %s', (level, msg, event) => {
  const { type, ...members } = event;
  expect(linesOf(logged([event]))).toEqual([{ level, config: 'desk', event: type, ...members, msg }]);
});

const decision: RuntimeEvent = {
  type: 'decision',
  call: 'c1',
  hook: 'guard',
  dialect: 'promptkit',
  kind: 'provider',
  phase: 'before_call',
  mode: 'filter',
  verdict: 'deny',
  reason: 'not today',
  metadata,
  durationMs: 5,
  queueMs: 0,
};

test('the metadata of an allow is logged too, digit for digit [PK-6-60@oneshot]', () => {
  const text = logged([{ ...decision, verdict: 'allow', reason: '' }]);
  expect(text).toContain('"metadata":{"id":12345678901234567890}');
  expect(linesOf(text)).toMatchObject([{ level: 20, verdict: 'allow', msg: 'hook guard: allow' }]);
});

test('a denial is logged at info, and a shadow’s verdict is marked as such', () => {
  const text = logged([decision, { ...decision, mode: 'shadow' }]);
  expect(linesOf(text).map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'hook guard: deny: not today'],
    [30, 'hook guard: would deny: not today'],
  ]);
});

test('a note has the level of its line, once', () => {
  const notes = (['debug', 'warn'] as const).map(
    (level): RuntimeEvent => ({ type: 'note', ...about, level, message: 'remark' }),
  );
  const text = logged(notes);
  expect(text.match(/"level":/g)).toHaveLength(2);
  expect(linesOf(text)).toEqual([
    { level: 20, config: 'desk', event: 'note', name: 'guard', msg: 'guard: remark' },
    { level: 40, config: 'desk', event: 'note', name: 'guard', msg: 'guard: remark' },
  ]);
});

test.each([
  { level: 'trace', told: 4 },
  { level: 'debug', told: 4 },
  { level: 'info', told: 3 },
  { level: 'warn', told: 1 },
  { level: 'error', told: 0 },
  { level: 'silent', told: 0 },
] as const)('at level $level, $told of four lines are logged', ({ level, told }) => {
  const four: RuntimeEvent[] = [
    { type: 'process.started', ...about, pid: 7 },
    { type: 'stderr', ...about, pid: 7, line: 'thinking' },
    { type: 'process.restarted', ...about, pid: 8, deaths: 1 },
    { type: 'circuit.opened', ...about, deaths: 5, pauseMs: 30_000 },
  ];
  expect(linesOf(logged(four, { logging: { level } }))).toHaveLength(told);
});

test('the fields of the config are on every line', () => {
  const text = logged([decision, decision], { logging: { fields: { service: 'support' } } });
  expect(linesOf(text)).toMatchObject([{ service: 'support' }, { service: 'support' }]);
});

const clock = /^\[\d\d:\d\d:\d\d\.\d{3}\] /;
const stderr: RuntimeEvent = { type: 'stderr', ...about, pid: 7, line: 'thinking' };

const formats = [
  { title: 'JSON where there is no terminal', options: {}, shows: /^\{/ },
  { title: 'text on a terminal', options: { isTerminal: true }, shows: clock },
  {
    title: 'JSON on a terminal that is to have it',
    options: { isTerminal: true, logging: { format: 'json' as const } },
    shows: /^\{/,
  },
  {
    title: 'text where the config asks for it',
    options: { logging: { format: 'text' as const } },
    shows: clock,
  },
];

test.each(formats)('the log is $title', ({ options, shows }) => {
  expect(logged([stderr], options)).toMatch(shows);
});

test('text has one line for each, without repeating the message', () => {
  const all = [...events, decision];
  const text = logged(all, { isTerminal: true, logging: { fields: { service: 'support' } } });
  const lines = text.split('\n').filter(Boolean);
  expect(lines).toHaveLength(all.length);
  expect(lines.map((line) => line.replace(clock, '')).slice(-2)).toEqual([
    'WARN: guard: observer event dropped: session_end {"service":"support"}',
    expect.stringMatching(
      /^INFO: hook guard: deny: not today \{"service":"support","metadata":\{"id":\d+\}\}$/,
    ),
  ]);
});

test('text has colours only on request', () => {
  const esc = '\u001b[';
  expect(logged([stderr], { isTerminal: true, hasColour: true })).toContain(esc);
  expect(logged([stderr], { isTerminal: true, hasColour: false })).not.toContain(esc);
});

const secret = 'hunter22 "quoted"';
const leaky: RuntimeEvent[] = [
  { ...stderr, line: `key is ${secret}` },
  { ...stderr, line: JSON.stringify({ key: secret }) },
  { ...stderr, line: 'Authorization: Bearer abc' },
  { type: 'note', ...about, level: 'warn', message: `saw ${secret}` },
  { type: 'dropped', ...about, what: 'noise', detail: `noise: ${secret}` },
  {
    ...decision,
    reason: `because ${secret}`,
    metadata: new Json(JSON.stringify({ nested: [secret], token: 'abc' })),
  },
  {
    ...decision,
    error: { code: 'PROCESS_EXIT', message: secret, hint: '', details: { stderr: `x\n${secret}\ny` } },
  },
  {
    type: 'call.finished',
    capability: 'tool',
    name: 'echo',
    call: 'c-1',
    status: 'failed',
    durationMs: 5,
    queueMs: 0,
    error: { code: 'TOOL_ERROR', message: `no ${secret}` },
  },
];

test.each([{ isTerminal: false }, { isTerminal: true }])(
  'no line shows a forwarded value, in members or in the message: $isTerminal',
  ({ isTerminal }) => {
    const text = logged(leaky, { secrets: [secret], isTerminal });
    expect(text).not.toMatch(/hunter22|quoted|abc/);
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(leaky.length);
    expect(text.split('\n').filter(Boolean)).toHaveLength(leaky.length);
  },
);

const shell = (script: string) => `{command: sh, args: ['-c', '${script}'], env: [SIGNALBOX_TEST_KEY]}`;

async function callLogged(spec: string, logLevel?: 'debug') {
  const file = write(spec);
  const log = join(mkdtempSync(join(tmpdir(), 'log-')), 'log');
  const fd = openSync(log, 'a');
  const env = { ...process.env, SIGNALBOX_TEST_KEY: 'sk-very-secret' };
  const runtime = await openRuntime(file, { log: { fd, isTerminal: false }, logLevel, env });
  const document = await runtime.tools.call('x');
  await runtime.close();
  closeSync(fd);
  return { document, text: readFileSync(log, 'utf8') };
}

test('a child’s stderr is logged line by line under its name, its forwarded values hidden [PK-2-13@oneshot]', async () => {
  const { document, text } = await callLogged(
    `tools: {x: {exec: ${shell('echo one >&2; printf "key $SIGNALBOX_TEST_KEY" >&2; echo "{\\"result\\": \\"$SIGNALBOX_TEST_KEY\\"}"')}}}\n`,
  );
  const told = { level: 30, config: 'desk', event: 'stderr', name: 'x', pid: expect.any(Number) };
  expect(linesOf(text)).toEqual([
    { ...told, line: 'one', msg: 'x: one' },
    { ...told, line: 'key [redacted]', msg: 'x: key [redacted]' },
  ]);
  // The caller gets the tool's answer unredacted; only the log is redacted.
  expect(document).toEqual({ status: 'ok', result: 'sk-very-secret' });
});

test('a server’s stderr is logged line by line under its name [PK-2-13@server]', async () => {
  const { text } = await callLogged(
    'tools: {x: {exec: {command: $bin/server, args: [stderr], runtime: server}}}\n',
  );
  expect(linesOf(text)).toMatchObject([{ level: 30, event: 'stderr', name: 'x', msg: 'x: request 1' }]);
});

test('level, format and fields are those of spec.logging, and an option may raise the level [PK-9-41]', async () => {
  const spec = `
logging: {defaultLevel: warn, format: text, commonFields: {service: support}}
tools: {x: {exec: ${shell('echo one >&2; echo "{\\"result\\": 1}"')}}}
`;
  expect((await callLogged(spec)).text).toBe('');
  const { text } = await callLogged(spec, 'debug');
  const lines = text.split('\n').filter(Boolean);
  expect(lines).toHaveLength(5);
  for (const line of lines)
    expect(line).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] (DEBUG|INFO): .* \{"service":"support"\}$/);
});

test.each(['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const)(
  'a log at %s subscribes only to its event types, and writes no others',
  (level) => {
    const lines: string[] = [];
    const target = { fd: 2, write: (line: string) => lines.push(line), isTerminal: false, hasColour: false };
    const log = openLog({ name: 'desk', logging: { level, fields: {} }, target });
    const wanted = events.filter(log.wants);
    for (const event of events) log(event);
    expect(lines).toHaveLength(wanted.length);
    expect(wanted.filter(({ type }) => !log.hears(type))).toEqual([]);
  },
);

test('malformed output of a process is in no log, and the rest of its fault is', () => {
  const details = { text: '{"card": "4929 7226 5379 7141"}', exit_code: 0 };
  const error = { code: 'REPLY_MALFORMED', message: 'stdout is not JSON', hint: '', details } as const;
  const event = { type: 'call.ended', capability: 'tool', name: 'echo', call: 'c', status: 'failed', error };
  const text = logged([{ ...event, durationMs: 1, queueMs: 0 } as RuntimeEvent]);
  expect(text).not.toContain('4929');
  expect(linesOf(text)).toMatchObject([{ error: { code: 'REPLY_MALFORMED', details: { exit_code: 0 } } }]);
});
