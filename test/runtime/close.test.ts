import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { titled } from '../cite.ts';
import { allOf, faultOf, isRunning, numberAfter, stderrOf, until } from '../process/harness.ts';
import { open, recorded, write } from './open.ts';

const spec = `
defaults: {grace_ms: 150}
tools:
  echo: {exec: {command: $bin/echo-args}}
  hang: {exec: {command: $bin/hang-with-child.sh}}
  server: {exec: {command: $bin/server, args: [never-answers], runtime: server}}
  pid: {exec: {command: $bin/server, args: [with-child], runtime: server}}
evals:
  hang: {command: $bin/hang-with-child.sh}
hooks:
  guard: {command: $bin/hang-with-child.sh, hook: provider}
`;

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  cases: [{id: one}, {id: two}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: hang}]
`;

test('`await using` closes the runtime, and with it its server and the server’s child [DS-LIB-05 DS-LIB-03]', async () => {
  let processes: number[] = [];
  {
    await using runtime = await openRuntime(write(spec), { log: false });
    const text = JSON.stringify(await runtime.tools.call('pid')).replaceAll(':', ' ');
    processes = ['"pid"', '"child"'].map((word) => numberAfter(word, text));
    expect(processes.map(isRunning)).toEqual([true, true]);
  }
  await until(() => !processes.some(isRunning), 'end of the server and its child');
});

type Call = (runtime: Runtime, signal: AbortSignal) => Promise<unknown>;

const aborted = (name: string) =>
  expect.objectContaining({ code: 'ABORTED', message: `the call of "${name}" was aborted` });

const abortable: { title: string; cites: string; processes: number; call: Call; document: unknown }[] =
  titled([
    {
      title: 'a tool',
      cites: 'DS-LIB-02',
      processes: 1,
      call: ({ tools }, signal) => tools.call('hang', {}, { signal }),
      document: { status: 'failed', error: aborted('hang') },
    },
    {
      title: 'an eval',
      cites: 'DS-LIB-02',
      processes: 1,
      call: ({ evals }, signal) => evals.call('hang', { content: '' }, { signal }),
      document: {
        status: 'unscored',
        reason: 'the call of "hang" was aborted',
        passed: false,
        error: aborted('hang'),
      },
    },
    {
      title: 'a chain of hooks',
      cites: 'DS-LIB-02',
      processes: 1,
      call: ({ hooks }, signal) =>
        hooks.fire({ hook: 'provider', phase: 'before_call', request: {} }, { signal }),
      document: expect.objectContaining({ verdict: 'deny', hook: 'guard', error: aborted('guard') }),
    },
    {
      title: 'a suite',
      cites: 'DS-LIB-02',
      processes: 1,
      call: async (runtime, signal) => {
        const fault = await faultOf(
          runtime.evals.run(join(dirname(runtime.file), 'demo.suite.yaml'), { signal }),
        );
        return { code: fault.code };
      },
      document: { code: 'ABORTED' },
    },
  ]);

test.each(abortable)('aborting ends $title at once, with its processes', async (row) => {
  const { runtime, events } = await open(spec, {}, { 'demo.suite.yaml': suite });
  const controller = new AbortController();
  const answer = row.call(runtime, controller.signal);
  await until(() => stderrOf(events).includes('child'), 'process that hangs');
  controller.abort();
  expect(await answer).toEqual(row.document);
  const children = allOf(events, 'stderr').map(({ line }) => numberAfter('child', line));
  const started = allOf(events, 'process.started').map(({ pid }) => pid);
  await until(() => ![...children, ...started].some(isRunning), 'end of the processes');
});

test.each(abortable)('with an already aborted signal, $title starts no process', async (row) => {
  const { runtime, events } = await open(spec, {}, { 'demo.suite.yaml': suite });
  expect(await row.call(runtime, AbortSignal.abort())).toEqual(row.document);
  await runtime.close();
  expect(allOf(events, 'process.started')).toEqual([]);
});

test('an abort ends only one call of a server, and the server survives [DS-LIB-02]', async () => {
  const { runtime, events } = await open(`
tools: {slow: {exec: {command: $bin/server, args: [slow], runtime: server}}}
`);
  const controller = new AbortController();
  const slow = runtime.tools.call('slow', { ms: 60_000 }, { signal: controller.signal });
  expect(await runtime.tools.call('slow', { ms: 1 })).toEqual({ status: 'ok', result: { ms: 1 } });
  controller.abort();
  expect(await slow).toEqual({ status: 'failed', error: aborted('slow') });
  expect(await runtime.tools.call('slow', { ms: 2 })).toEqual({ status: 'ok', result: { ms: 2 } });
  expect(allOf(events, 'process.started')).toHaveLength(1);
});

const closedCalls: { title: string; call: (runtime: Runtime) => Promise<unknown> }[] = [
  { title: 'tools.call', call: ({ tools }) => tools.call('echo') },
  { title: 'tools.call of an unknown name', call: ({ tools }) => tools.call('nobody') },
  { title: 'evals.call', call: ({ evals }) => evals.call('hang', { content: '' }) },
  { title: 'evals.run', call: ({ evals }) => evals.run('nowhere.suite.yaml') },
  { title: 'hooks.fire', call: ({ hooks }) => hooks.fire({ hook: 'provider', phase: 'nowhen' }) },
];

test.each(closedCalls)('after close() $title is RUNTIME_CLOSED [DS-LIB-04]', async ({ call }) => {
  const { runtime, events } = await open(spec);
  await runtime.close();
  const fault = await faultOf(call(runtime));
  expect({ code: fault.code, message: fault.message }).toEqual({
    code: 'RUNTIME_CLOSED',
    message: 'the runtime is closed',
  });
  expect(events).toEqual([]);
});

test('a call that arrives while close() still waits is RUNTIME_CLOSED too [DS-LIB-04]', async () => {
  const { runtime } = await open(spec);
  const closing = runtime.close();
  expect((await faultOf(runtime.tools.call('echo'))).code).toBe('RUNTIME_CLOSED');
  await closing;
});

test('close() may be repeated, and is the same close', async () => {
  const { runtime } = await open(spec);
  await runtime.tools.call('echo');
  expect(runtime.close()).toBe(runtime.close());
  await runtime.close();
  await runtime[Symbol.asyncDispose]();
  expect(runtime.tools.list()).toHaveLength(4);
});

test.each([
  { name: 'hang', code: 'ABORTED' },
  { name: 'server', code: 'RUNTIME_CLOSED' },
])('close() ends the call of $name that is in flight, and its process', async ({ name, code }) => {
  const { runtime, events } = await open(spec);
  const call = runtime.tools.call(name);
  await until(() => allOf(events, 'process.started').length === 1, 'process');
  await runtime.close();
  expect(await call).toMatchObject({ status: 'failed', error: { code } });
  await until(() => !allOf(events, 'process.started').some(({ pid }) => isRunning(pid)), 'end of it');
});

test('close() waits for the queued events of observers', async () => {
  const { runtime, folder } = await open(`
hooks: {told: {command: $bin/record-slow, env: [RECORD_FILE=record, SLOW_MS=200], hook: session}}
`);
  for (const session_id of ['one', 'two', 'three']) {
    await runtime.hooks.fire({ hook: 'session', phase: 'session_start', event: { session_id } });
  }
  expect(existsSync(join(folder, 'record'))).toBe(false);
  await runtime.close();
  expect(recorded(join(folder, 'record'))).toMatchObject([
    { event: { session_id: 'one' } },
    { event: { session_id: 'two' } },
    { event: { session_id: 'three' } },
  ]);
});

test('close() waits for an observer no longer than its timeout, and leaves no process [DS-LIB-03]', async () => {
  const { runtime, events } = await open(`
hooks: {told: {command: $bin/hang-with-child.sh, hook: session, timeout_ms: 300, grace_ms: 150}}
`);
  await runtime.hooks.fire({ hook: 'session', phase: 'session_start', event: {} });
  await until(() => stderrOf(events).includes('child'), 'observer that hangs');
  await runtime.close();
  const child = numberAfter('child', stderrOf(events));
  const started = allOf(events, 'process.started').map(({ pid }) => pid);
  await until(() => ![child, ...started].some(isRunning), 'end of the observer');
  expect(allOf(events, 'call.finished')).toMatchObject([{ name: 'told', status: 'untold' }]);
});

test('aborting the signal of the runtime drops the queued events of observers', async () => {
  const controller = new AbortController();
  const { runtime, events } = await open(
    'hooks: {told: {command: $bin/hang.sh, hook: session, timeout_ms: 60000, grace_ms: 150}}\n',
    { signal: controller.signal },
  );
  await runtime.hooks.fire({ hook: 'session', phase: 'session_start', event: {} });
  await until(() => allOf(events, 'process.started').length === 1, 'observer that hangs');
  const closing = runtime.close();
  controller.abort();
  await closing;
  expect(allOf(events, 'call.finished')).toMatchObject([{ status: 'untold', error: { code: 'ABORTED' } }]);
});

test('with `concurrency: 1` a hanging observer and a hanging shadow delay nothing', async () => {
  const controller = new AbortController();
  const { runtime, events } = await open(
    `
concurrency: 1
defaults: {grace_ms: 150}
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks:
  told: {command: $bin/hang.sh, hook: tool, mode: observe, timeout_ms: 60000}
  shadow: {command: $bin/hang.sh, hook: tool, mode: shadow, timeout_ms: 60000}
  guard: {command: $bin/allow.sh, hook: tool}
`,
    { signal: controller.signal },
  );
  for (const n of [1, 2, 3]) {
    expect(await runtime.tools.call('echo', { n })).toEqual({ status: 'ok', result: { n } });
  }
  // Three calls are answered; none of the hanging ones has ended.
  const ended = allOf(events, 'process.ended').map(({ name }) => name);
  expect(ended.filter((name) => name === 'told' || name === 'shadow')).toEqual([]);
  expect(allOf(events, 'process.started').some(({ name }) => name === 'told' || name === 'shadow')).toBe(
    true,
  );
  controller.abort();
});

test('with `concurrency: 1` calls run one after the other', async () => {
  const { runtime, events } = await open(`
concurrency: 1
tools: {echo: {exec: {command: $bin/echo-args}}}
`);
  await Promise.all([1, 2, 3].map((n) => runtime.tools.call('echo', { n })));
  const lives = events.filter(({ type }) => type.startsWith('process.')).map(({ type }) => type);
  expect(lives).toEqual(Array.from({ length: 3 }, () => ['process.started', 'process.ended']).flat());
});
