import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { onTransports } from '../cite.ts';
import { open, recorded, write } from './open.ts';

/** A server that answers with its folder. The fixture of that name is one-shot. */
const folderServer =
  'import json,os,sys\nfor line in sys.stdin: print(json.dumps({"jsonrpc":"2.0","id":json.loads(line)["id"],"result":os.getcwd()}),flush=True)';

const folders = onTransports([
  { title: '`cwd` starts at the folder of the config', cites: 'DS-KEYS-01@both' },
]);

test.each(folders)('$title', async ({ on }) => {
  const file = write(`
tools:
  oneshot: {exec: {command: $bin/print-cwd, cwd: sub}}
  server: {exec: {command: python3, args: [-c, ${JSON.stringify(folderServer)}], runtime: server, cwd: sub}}
`);
  const sub = join(dirname(file), 'sub');
  mkdirSync(sub);
  await using runtime = await openRuntime(file, { log: false });
  expect(await runtime.tools.call(on)).toEqual({ status: 'ok', result: realpathSync(sub) });
});

const cleaner = 'trap "sleep 0.5; exit 4" TERM; sleep 60 & wait';
const graces = [
  { graceMs: 15_000, exitCode: 4, signal: null },
  { graceMs: 1, exitCode: null, signal: 'SIGKILL' },
];

test.each(graces)(
  'a process that cleans up for half a second ends with $exitCode, $signal under grace_ms $graceMs [DS-KEYS-02@oneshot]',
  async ({ graceMs, exitCode, signal }) => {
    const { runtime, events } = await open(`
tools:
  slow: {exec: {command: sh, args: [-c, '${cleaner}'], timeout_ms: 300, grace_ms: ${graceMs}}}
`);
    expect(await runtime.tools.call('slow')).toMatchObject({ error: { code: 'PROCESS_TIMEOUT' } });
    await runtime.close();
    expect(events.filter(({ type }) => type === 'process.ended')).toMatchObject([{ exitCode, signal }]);
  },
);

const limits = onTransports([{ title: 'an entry has the output limit that it says', cites: 'PK-2-27@both' }]);

test.each(limits)('$title', async ({ on }) => {
  const { runtime } = await open(`
tools:
  oneshot: {exec: {command: $bin/echo-args, max_output_bytes: 200}}
  server: {exec: {command: $bin/server, args: [echo], runtime: server, max_output_bytes: 200}}
`);
  expect(await runtime.tools.call(on, { text: 'x'.repeat(100) })).toMatchObject({ status: 'ok' });
  expect(await runtime.tools.call(on, { text: 'x'.repeat(200) })).toMatchObject({
    status: 'failed',
    error: { code: 'OUTPUT_LIMIT' },
  });
});

test('two instances of a server are two processes [DS-KEYS-04@server]', async () => {
  const { runtime, events } = await open(`
concurrency: 2
tools:
  slow: {exec: {command: $bin/server, args: [slow], runtime: server, instances: 2}}
`);
  await Promise.all([1, 2, 3, 4].map(() => runtime.tools.call('slow', { ms: 100 })));
  expect(events.filter(({ type }) => type === 'process.started')).toHaveLength(2);
});

test('a warm server starts when the runtime opens, a cold one on first use [DS-KEYS-05@server]', async () => {
  const { events } = await open(`
tools:
  cold: {exec: {command: $bin/server, args: [echo], runtime: server}}
  warm: {exec: {command: $bin/server, args: [echo], runtime: server, warm: true}}
`);
  await vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ type: 'process.started' })));
  expect(events.filter(({ type }) => type === 'process.started')).toMatchObject([{ name: 'warm' }]);
});

test('the number of one-shot processes in `warm` starts when the runtime opens, and one serves a call [DS-WARM-06@oneshot]', async () => {
  const { runtime, events } = await open(`
tools:
  waits: {exec: {command: $bin/echo-args, warm: 2}}
`);
  const started = () => events.filter(({ type }) => type === 'process.started');
  await vi.waitFor(() => expect(started()).toHaveLength(2), 10_000);
  expect(await runtime.tools.call('waits', { n: 1 })).toEqual({ status: 'ok', result: { n: 1 } });
  const before = started().slice(0, 2);
  await vi.waitFor(() => expect(started()).toHaveLength(3), 10_000);
  const [ended] = events.filter(({ type }) => type === 'process.ended');
  expect(before).toContainEqual({ type: 'process.started', name: 'waits', pid: expect.anything() });
  expect(before.map((event) => 'pid' in event && event.pid)).toContain(ended && 'pid' in ended && ended.pid);
});

test('spec.defaults apply if an entry is silent, and the entry takes precedence [DS-KEYS-06]', async () => {
  const { runtime } = await open(`
defaults: {timeout_ms: 200, max_output_bytes: 40}
tools:
  default: {exec: {command: $bin/slow-allow, env: [SLOW_MS=60000]}}
  own: {exec: {command: $bin/echo-args, timeout_ms: 20000, max_output_bytes: 4000}}
`);
  expect(await runtime.tools.call('default')).toMatchObject({ error: { code: 'PROCESS_TIMEOUT' } });
  const args = { text: 'x'.repeat(100) };
  expect(await runtime.tools.call('own', args)).toEqual({ status: 'ok', result: args });
});

test('a hook of a v1alpha1 file that names no dialect reads snake_case keys [PK-1-01@oneshot]', async () => {
  const file = write('');
  const record = join(dirname(file), 'record.jsonl');
  const command = join(import.meta.dirname, '../fixtures/bin/record-event');
  writeFileSync(
    file,
    `apiVersion: promptkit.altairalabs.ai/v1alpha1
kind: RuntimeConfig
spec:
  hooks:
    log: {command: ${command}, hook: session, phases: [session_start], mode: observe, env: [RECORD_FILE=${record}]}
`,
  );
  const runtime = await openRuntime(file, { log: false });
  await runtime.hooks.fire({ hook: 'session', phase: 'session_start', event: { session_id: 's' } });
  await runtime.close();
  expect(recorded(record)).toEqual([
    {
      hook: 'session',
      phase: 'session_start',
      event: { session_id: 's', conversation_id: '', messages: [], turn_index: 0, metadata: {} },
    },
  ]);
});
