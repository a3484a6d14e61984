import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { RuntimeEvent } from '../../src/index.ts';
import { allOf, until } from '../process/harness.ts';
import { open, recorded, story } from './open.ts';

async function quiet(events: readonly RuntimeEvent[], processes: number): Promise<void> {
  await until(() => allOf(events, 'process.ended').length === processes, `end of ${processes} processes`);
}

test('a tool call between two hooks emits all its events', async () => {
  const { runtime, events } = await open(`
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks:
  note: {command: $bin/allow-metadata.sh, args: [id, '12345678901234567890'], hook: tool, phases: [before_execution]}
  mark: {command: $bin/prints.sh, args: ['{"allow": true, "replace": {"content": "{}"}}'], hook: tool, phases: [after_execution]}
`);
  await runtime.tools.call('echo', { a: 1 });
  const asked = { type: 'decision', call: 1, dialect: 'promptkit', kind: 'tool', mode: 'filter' };
  expect(story(events)).toEqual([
    { type: 'process.started', name: 'note', pid: 1 },
    { type: 'process.ended', name: 'note', pid: 1, exitCode: 0, signal: null },
    {
      ...asked,
      hook: 'note',
      phase: 'before_execution',
      verdict: 'allow',
      reason: 'looked fine',
      metadata: '{"id": 12345678901234567890}',
    },
    { type: 'call.started', capability: 'tool', name: 'echo', call: 1 },
    { type: 'process.started', name: 'echo', pid: 2 },
    { type: 'process.ended', name: 'echo', pid: 2, exitCode: 0, signal: null },
    { type: 'call.finished', capability: 'tool', name: 'echo', call: 1, status: 'ok' },
    { type: 'process.started', name: 'mark', pid: 3 },
    { type: 'process.ended', name: 'mark', pid: 3, exitCode: 0, signal: null },
    { ...asked, hook: 'mark', phase: 'after_execution', verdict: 'modify', reason: '', metadata: '{}' },
  ]);
});

test('a denied call starts no process of the tool, and the decision carries the fault', async () => {
  const { runtime, events } = await open(`
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks: {guard: {command: $bin/crash.sh, hook: tool}}
`);
  const document = await runtime.tools.call('echo');
  await quiet(events, 1);
  const error = {
    code: 'PROCESS_EXIT',
    message: expect.stringContaining('rules.txt: no such file'),
    hint: expect.any(String),
    details: expect.any(Object),
  };
  const told = {
    reason: 'the hook failed: The process ended with an exit code other than 0.',
    error: {
      code: 'PROCESS_EXIT',
      message: 'The process ended with an exit code other than 0.',
      hint: 'Correct the program: its stderr says why.',
    },
  };
  expect(document).toEqual({ status: 'denied', hook: 'guard', metadata: {}, ...told });
  const reason = expect.stringMatching(/^hook "guard" failed: /);
  const byType = story(events).toSorted((one, other) => order(one) - order(other));
  expect(byType).toEqual([
    { type: 'process.started', name: 'guard', pid: 1 },
    { type: 'stderr', name: 'guard', pid: 1, line: 'reading the rules' },
    { type: 'stderr', name: 'guard', pid: 1, line: 'rules.txt: no such file' },
    { type: 'process.ended', name: 'guard', pid: 1, exitCode: 3, signal: null },
    {
      type: 'decision',
      call: 1,
      hook: 'guard',
      dialect: 'promptkit',
      kind: 'tool',
      phase: 'before_execution',
      mode: 'filter',
      verdict: 'deny',
      reason,
      metadata: '{}',
      error,
    },
  ]);
});

function order({ type }: Readonly<Record<string, unknown>>): number {
  return ['process.started', 'stderr', 'process.ended', 'decision'].indexOf(String(type));
}

test('an eval emits its events, and so does its hook', async () => {
  const { runtime, events, folder } = await open(`
evals: {score: {command: $bin/eval-score}}
hooks: {told: {command: $bin/record-event, env: [RECORD_FILE=record], hook: eval}}
`);
  await runtime.evals.call('score', { content: 'x', params: { score: 0.5 } });
  await runtime.close();
  expect(story(events)).toEqual([
    { type: 'call.started', capability: 'eval', name: 'score', call: 1 },
    { type: 'process.started', name: 'score', pid: 1 },
    { type: 'process.ended', name: 'score', pid: 1, exitCode: 0, signal: null },
    { type: 'call.finished', capability: 'eval', name: 'score', call: 1, status: 'scored' },
    { type: 'call.started', capability: 'hook', name: 'told', call: 1 },
    { type: 'process.started', name: 'told', pid: 2 },
    { type: 'process.ended', name: 'told', pid: 2, exitCode: 0, signal: null },
    { type: 'call.finished', capability: 'hook', name: 'told', call: 1, status: 'told' },
  ]);
  expect(recorded(join(folder, 'record'))).toHaveLength(1);
});

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  cases: [{id: one}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: quality, type: score, params: {score: 0.25}, threshold: {max_score: 0.3}}]
`;

test('eval hooks get the documented payload after every eval, scored or not, called or of a suite', async () => {
  const { runtime, folder } = await open(
    `
evals:
  score: {command: $bin/eval-score}
  crash: {command: $bin/crash.sh}
hooks: {told: {command: $bin/record-event, env: [RECORD_FILE=record], hook: eval}}
`,
    {},
    { 'demo.suite.yaml': suite },
  );
  const context = { turn_index: 3, session_id: 's-1' };
  const params = { score: 1, detail: 'good', data: { words: 3 } };
  await runtime.evals.call('score', { content: 'x', params, context });
  await runtime.evals.call('score', { content: 'x', params: { error: 'no judge' } }, { id: 'named' });
  await runtime.evals.call('crash', { content: 'x' });
  await runtime.evals.run(join(folder, 'demo.suite.yaml'));
  await runtime.close();
  const duration_ms = expect.any(Number);
  expect(recorded(join(folder, 'record'))).toEqual([
    {
      eval_id: 'score',
      type: 'score',
      score: 1,
      passed: true,
      explanation: 'good',
      details: { words: 3 },
      duration_ms,
      turn_index: 3,
      session_id: 's-1',
    },
    { eval_id: 'named', type: 'score', passed: false, error: 'no judge', duration_ms, turn_index: 0 },
    {
      eval_id: 'crash',
      type: 'crash',
      passed: false,
      error: expect.stringContaining('rules.txt: no such file'),
      duration_ms,
      turn_index: 0,
    },
    { eval_id: 'quality', type: 'score', score: 0.25, passed: true, duration_ms, turn_index: 0 },
  ]);
});

test('a shadow runs and is recorded, and decides nothing', async () => {
  const { runtime, events } = await open(`
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks:
  first: {command: $bin/allow.sh, hook: tool, phases: [before_execution]}
  shadow: {command: $bin/deny.sh, hook: tool, phases: [before_execution], mode: shadow}
`);
  expect(await runtime.tools.call('echo', { a: 1 })).toEqual({ status: 'ok', result: { a: 1 } });
  await runtime.close();
  const decisions = story(allOf(events, 'decision')).toSorted((one, other) =>
    String(one['hook']).localeCompare(String(other['hook'])),
  );
  const asked = {
    ...{ type: 'decision', call: 1, dialect: 'promptkit', kind: 'tool' },
    phase: 'before_execution',
  };
  expect(decisions).toEqual([
    { ...asked, hook: 'first', mode: 'filter', verdict: 'allow', reason: '', metadata: '{}' },
    {
      ...asked,
      hook: 'shadow',
      mode: 'shadow',
      verdict: 'deny',
      reason: 'not today',
      metadata: '{"rule": "weekday"}',
    },
  ]);
});

test('a server that dies is restarted, and both are reported', async () => {
  const { runtime, events } = await open(`
tools: {calc: {exec: {command: $bin/server, args: [dies-on-demand], runtime: server}}}
`);
  const documents = [
    await runtime.tools.call('calc', { n: 1 }),
    await runtime.tools.call('calc', { die: true }),
  ];
  await quiet(events, 1);
  documents.push(await runtime.tools.call('calc', { n: 2 }));
  await runtime.close();
  expect(documents.map(({ status }) => status)).toEqual(['ok', 'failed', 'ok']);
  const call = (number: number) => ({ capability: 'tool', name: 'calc', call: number });
  const error = expect.objectContaining({ code: 'SERVER_EXIT' });
  expect(story(events).filter(({ type }) => type !== 'stderr')).toEqual([
    { type: 'call.started', ...call(1) },
    { type: 'process.started', name: 'calc', pid: 1 },
    { type: 'call.finished', ...call(1), status: 'ok' },
    { type: 'call.started', ...call(2) },
    { type: 'process.ended', name: 'calc', pid: 1, exitCode: 7, signal: null },
    { type: 'call.finished', ...call(2), status: 'failed', error },
    { type: 'call.started', ...call(3) },
    { type: 'process.started', name: 'calc', pid: 2 },
    { type: 'process.restarted', name: 'calc', pid: 2, deaths: 1 },
    { type: 'call.finished', ...call(3), status: 'ok' },
    { type: 'process.ended', name: 'calc', pid: 2, exitCode: 0, signal: null },
  ]);
});

test('events that an observer could not receive before the end are reported as dropped', async () => {
  const { runtime, events } = await open(`
hooks: {told: {command: $bin/hang.sh, hook: session, timeout_ms: 400, grace_ms: 100}}
`);
  for (const phase of ['session_start', 'session_update', 'session_end']) {
    await runtime.hooks.fire({ hook: 'session', phase, event: {} });
  }
  await runtime.close();
  const told = story(events).filter(({ type }) => type !== 'process.started' && type !== 'process.ended');
  expect(told[0]).toEqual({ type: 'call.started', capability: 'hook', name: 'told', call: 1 });
  expect(told).toContainEqual({
    type: 'call.finished',
    capability: 'hook',
    name: 'told',
    call: 1,
    status: 'untold',
    error: { code: expect.stringMatching(/^(PROCESS_TIMEOUT|ABORTED)$/), message: expect.any(String) },
  });
  expect(told).toContainEqual({
    type: 'dropped',
    name: 'told',
    what: 'observer event',
    detail: expect.stringMatching(/^[12] events? still waiting when the runtime closed$/),
  });
});

test('warnings of a config, and missing variables, are reported when the runtime opens', async () => {
  const { runtime, events } = await open(`
tools:
  bare: {description: nothing}
  env: {exec: {command: $bin/print-env, env: [SIGNALBOX_TEST_LACKS_THIS]}}
`);
  expect(story(events)).toEqual([
    {
      type: 'note',
      name: `${runtime.file}:7:5`,
      level: 'warn',
      message: 'tools[bare]: has no exec binding: it is listed, but a call of it fails',
    },
    {
      type: 'note',
      name: 'env',
      level: 'warn',
      message: 'the environment has no SIGNALBOX_TEST_LACKS_THIS; it is left out',
    },
  ]);
});

test('a listener that throws does no harm', async () => {
  const warnings: string[] = [];
  const others = process.rawListeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', ({ message }) => warnings.push(message));
  onTestFinished(() => {
    process.removeAllListeners('warning');
    for (const other of others) process.on('warning', (warning) => other(warning));
  });
  const { runtime } = await open('tools: {echo: {exec: {command: $bin/echo-args}}}\n', {
    onEvent: () => {
      throw new Error('listener broken');
    },
  });
  expect(await runtime.tools.call('echo', { a: 1 })).toEqual({ status: 'ok', result: { a: 1 } });
  await runtime.close();
  // A warning is emitted one turn after its cause.
  await nextTurn();
  expect(new Set(warnings)).toEqual(new Set(['an event listener threw an error: listener broken']));
});

const oneCall = `
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks:
  note: {command: $bin/deny.sh, hook: tool, phases: [after_execution]}
`;

test.each([
  { logLevel: 'debug', seen: ['call.started', 'call.finished', 'decision'] },
  { logLevel: 'info', seen: ['decision'] },
  { logLevel: 'warn', seen: [] },
] as const)('a log at $logLevel alone has $seen of a denied call', async ({ logLevel, seen }) => {
  const lines: string[] = [];
  const log = { write: (line: string) => lines.push(line), isTerminal: false };
  const { runtime } = await open(oneCall, { log, logLevel, onEvent: undefined });
  expect(await runtime.tools.call('echo', { a: 1 })).toMatchObject({ status: 'denied', hook: 'note' });
  await runtime.close();
  const types = lines.map((line) => JSON.parse(line).event).filter((type) => /^(call|decision)/.test(type));
  expect(types).toEqual(seen);
});

test('a listener sees the async context of the caller, also in what a server’s reply causes', async () => {
  const callers = new AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const onEvent = (event: RuntimeEvent) => {
    if (event.type === 'note') seen.push([callers.getStore(), event.name]);
  };
  const reply = `while read -r line; do
  id=\${line#*\\"id\\":}
  printf '{"jsonrpc":"2.0","id":%s,"result":{"allow":true,"odd":1}}\\n' "\${id%%,*}"
done`;
  const spec = `
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks: {guard: {command: sh, args: [-c, ${JSON.stringify(reply)}], hook: tool, phases: [before_execution], runtime: server}}
`;
  const { runtime } = await open(spec, { onEvent });
  for (const caller of [1, 2, 3]) await callers.run(caller, () => runtime.tools.call('echo', {}));
  expect(seen).toEqual([
    [1, 'guard'],
    [2, 'guard'],
    [3, 'guard'],
  ]);
});
