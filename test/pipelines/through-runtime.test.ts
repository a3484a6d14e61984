import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import { openRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { eventually, newRecord } from '../calls/capability/bench.ts';
import { onTransports, type Transport } from '../cite.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures/bin');

async function open(
  spec: string,
  apiVersion = 'signalbox/v1',
): Promise<{ runtime: Runtime; events: RuntimeEvent[] }> {
  const file = join(mkdtempSync(join(tmpdir(), 'runtime-')), 'runtime.yaml');
  writeFileSync(file, `apiVersion: ${apiVersion}\nkind: RuntimeConfig\nspec:\n${spec}`);
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(file, { log: false, onEvent: (event) => events.push(event) });
  onTestFinished(() => runtime.close());
  return { runtime, events };
}

const modes: Record<Transport, (reply: string) => string> = {
  oneshot: (reply) => `command: ${fixtures}/answers, args: ['${reply}']`,
  server: (reply) => `command: ${fixtures}/server-answers, runtime: server, args: ['${reply}']`,
};

function toldOf(events: readonly RuntimeEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'call.finished' && event.capability === 'hook' ? [event.status] : [],
  );
}

const results = onTransports([
  { title: 'scored', cites: 'PK-6-54@both', says: '{"score": 0.5}', score: 0.5, status: 'scored' },
  {
    title: 'left unscored',
    cites: 'PK-6-54@both',
    says: '{"ack": true}',
    score: undefined,
    status: 'unscored',
  },
]);

test.each(results)(
  'an eval hook receives an eval that was $title, and the eval does not wait',
  async ({ on, says, score, status }) => {
    const { runtime, events } = await open(`
  evals:
    tone: {${modes[on](says)}}
  hooks:
    audit: {hook: eval, command: ${fixtures}/${on === 'oneshot' ? 'print-stdin' : 'server'}, args: [line], runtime: ${on === 'oneshot' ? 'exec' : 'server'}}
`);
    const document = await runtime.evals.call('tone', { content: 'Hello.' });
    expect(document).toMatchObject(
      score === undefined ? { status, passed: false } : { status, score, passed: false },
    );
    // The eval is answered before the hook receives the event.
    expect(toldOf(events)).toEqual([]);
    expect(await eventually(() => toldOf(events))).toEqual(['told']);
  },
);

test('an eval hook that hangs delays nothing [PK-6-54@oneshot]', async () => {
  const { runtime, events } = await open(`
  evals:
    tone: {${modes.oneshot('{"score": 1}')}}
  hooks:
    audit: {hook: eval, command: ${fixtures}/hang.sh, timeout_ms: 300}
`);
  expect(await runtime.evals.call('tone', { content: 'Hello.' })).toMatchObject({
    status: 'scored',
    passed: true,
  });
  expect(toldOf(events)).toEqual([]);
  expect(await eventually(() => toldOf(events))).toEqual(['untold']);
});

test('hooks have every phase and the mode of their kind by default [PK-6-55 PK-6-56]', async () => {
  const { runtime } = await open(`
  hooks:
    p: {hook: provider, command: x}
    t: {hook: tool, command: x}
    s: {hook: session, command: x}
    e: {hook: eval, command: x}
    said: {hook: provider, command: x, phases: [after_call], mode: shadow}
`);
  const list = runtime.hooks.list();
  expect(list.map(({ name, hook, phases, mode }) => ({ name, hook, phases, mode }))).toEqual([
    { name: 'p', hook: 'provider', phases: ['before_call', 'after_call'], mode: 'filter' },
    { name: 't', hook: 'tool', phases: ['before_execution', 'after_execution'], mode: 'filter' },
    {
      name: 's',
      hook: 'session',
      phases: ['session_start', 'session_update', 'session_end'],
      mode: 'observe',
    },
    { name: 'e', hook: 'eval', phases: ['scored'], mode: 'observe' },
    { name: 'said', hook: 'provider', phases: ['after_call'], mode: 'shadow' },
  ]);
  const { name, hook, phases, mode, ...beside } = list[0] ?? {};
  expect(beside).toEqual({
    dialect: 'promptkit',
    points: [],
    on_failure: 'deny',
    source: { file: runtime.file, line: 6, column: expect.any(Number) },
  });
});

const versions = ['signalbox/v1', 'promptkit.altairalabs.ai/v1alpha1'];

test.each(versions)(
  'a hook without dialect reads snake_case in a file of %s [PK-1-01@oneshot]',
  async (version) => {
    const { env, lines } = newRecord();
    const spec = `
  hooks:
    guard: {hook: tool, ${modes.oneshot('{"allow": true}')}, env: ["${env}"]}
`;
    const { runtime } = await open(spec, version);
    await runtime.hooks.fire({
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'w', call_id: '1' },
    });
    expect(lines()).toEqual([
      '{"hook":"tool","phase":"before_execution","request":{"name":"w","args":{},"call_id":"1"}}',
    ]);
  },
);

test('a hook without phases runs at each of them [PK-6-55]', async () => {
  const { runtime } = await open(`
  hooks:
    guard: {hook: tool, ${modes.oneshot('{"allow": false}')}}
`);
  const request = { name: 'w' };
  const decisions = [
    await runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request }),
    await runtime.hooks.fire({ hook: 'tool', phase: 'after_execution', request, response: {} }),
    await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: {} }),
  ];
  expect(decisions.map(({ verdict }) => verdict)).toEqual(['deny', 'deny', 'allow']);
});

test('the order of the file is the order of the chain [PK-6-58@oneshot]', async () => {
  const names = ['zeta', 'alpha', '10', '9', 'mid'];
  const { runtime, events } = await open(`
  hooks:
${names.map((name) => `    "${name}": {hook: tool, ${modes.oneshot('{"allow": true}')}}`).join('\n')}
`);
  await runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } });
  expect(events.flatMap((event) => (event.type === 'decision' ? [event.hook] : []))).toEqual(names);
});

test('an unavailable sandbox: failed, unscored, denied [PK-9-39@oneshot]', async () => {
  const { runtime, events } = await open(`
  sandboxes: {jail: {mode: docker}}
  tools:
    w: {exec: {${modes.oneshot('{"result": 1}')}, sandbox: jail}}
  evals:
    tone: {${modes.oneshot('{"score": 1}')}, sandbox: jail}
  hooks:
    guard: {hook: provider, ${modes.oneshot('{"allow": true}')}, sandbox: jail}
`);
  const error = { code: 'SANDBOX_FAILED' };
  expect(await runtime.tools.call('w')).toMatchObject({ status: 'failed', error });
  expect(await runtime.evals.call('tone', { content: '' })).toMatchObject({ status: 'unscored', error });
  expect(await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: {} })).toMatchObject({
    verdict: 'deny',
    hook: 'guard',
    error,
  });
  expect(events.filter(({ type }) => type === 'process.started')).toEqual([]);
});

test('every run reads its pipelines as they are now, also those below, however often they ran before', async () => {
  const { runtime } = await open('  tools:\n    note: {exec: {command: /bin/cat}}\n');
  const folder = mkdtempSync(join(tmpdir(), 'pipelines-'));
  const outer = join(folder, 'outer.pipeline.yaml');
  const write = (file: string, spec: string) =>
    writeFileSync(join(folder, file), `apiVersion: signalbox/v1\nkind: Pipeline\nspec:\n${spec}`);
  const writeOuter = (word: string) =>
    write(
      'outer.pipeline.yaml',
      `  steps: [{id: below, pipeline: ./inner.pipeline.yaml}]\n  output: "\${'${word} ' + steps.below.output}"\n`,
    );
  const writeInner = (word: string) =>
    write('inner.pipeline.yaml', `  steps: [{id: pause, wait: 1ms}]\n  output: "\${'${word}'}"\n`);
  const outputs: unknown[] = [];
  const runIt = async () => outputs.push((await runtime.run(outer)).output);
  writeOuter('one');
  writeInner('a');
  await runIt();
  await runIt();
  writeInner('b');
  await runIt();
  writeOuter('two');
  await runIt();
  expect(outputs).toEqual(['one a', 'one a', 'one b', 'two b']);
  write('inner.pipeline.yaml', '  steps: none\n');
  await expect(runtime.run(outer)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  writeInner('c');
  await runIt();
  expect(outputs.at(-1)).toBe('two c');
});
