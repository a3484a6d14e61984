import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CallOptions, Runtime, ToolDocument } from '../../../src/index.ts';
import { folderOf, pipeline, suite } from '../../workspace.ts';
import { open } from '../open.ts';
import { startsIn } from './tracked.ts';

const trace = (digit: string) => ({
  traceparent: `00-${digit.repeat(32)}-00f067aa0ba902b7-01`,
  tracestate: `vendor=${digit}`,
});
const [one, two] = [trace('1'), trace('2')] as const;
type Trace = typeof one;

/** Programs that answer with what they were given, and a hook that writes it down. */
const spec = `
tools:
  oneshot: {exec: {command: $bin/print-env, env: [TRACESTATE=stale]}}
  warm: {exec: {command: $bin/print-env, warm: 1}}
  server: {exec: {command: $bin/server, args: [line], runtime: server}}
  queued: {exec: {command: $bin/print-env, concurrency: 1}}
hooks: {told: {command: sh, args: ["-c", 'echo "$TRACEPARENT" >> $folder/hooks; echo "{\\"allow\\": true}"'], hook: tool, phases: [before_execution], match: {tools: [queued]}}}
`;

function resultOf(document: ToolDocument): unknown {
  return document.status === 'ok' ? document.result : document;
}

/** What the tool was given of the trace. */
async function seenBy(runtime: Runtime, tool: string, options?: CallOptions): Promise<unknown> {
  const result = resultOf(await runtime.tools.call(tool, {}, options));
  if (typeof result === 'string') return JSON.parse(result).params._meta;
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = result as Record<string, string>;
  return { traceparent, tracestate };
}

test.each(['oneshot', 'warm', 'server'])(
  'the trace of a call reaches a %s program, and no other call of it',
  async (tool) => {
    const { runtime, events } = await open(spec);
    const none = await seenBy(runtime, tool);
    expect(await seenBy(runtime, tool, { trace: one })).toEqual(one);
    const { traceparent } = two;
    expect(await seenBy(runtime, tool, { trace: { traceparent } })).toEqual({
      traceparent,
      ...(tool !== 'server' && { tracestate: undefined }),
    });
    expect(await seenBy(runtime, tool)).toEqual(none);
    expect(startsIn(events).map((start) => start.trace)).toEqual([
      undefined,
      one,
      { traceparent },
      undefined,
    ]);
  },
);

test('calls that wait for each other in a queue keep their own traces, and so do their hooks', async () => {
  const { runtime, folder } = await open(spec);
  const traces = Array.from({ length: 9 }, (_, index) => trace(String(index + 1)));
  const seen = await Promise.all(traces.map((each) => seenBy(runtime, 'queued', { trace: each })));
  expect(seen).toEqual(traces);
  const told = readFileSync(join(folder, 'hooks'), 'utf8').trim().split('\n');
  expect(told.toSorted()).toEqual(traces.map(({ traceparent }) => traceparent));
});

test('calls that a server filter allows at the same time keep their own traces', async () => {
  const server = (args: string) => `command: $bin/server, args: [${args}], runtime: server`;
  const filtered = `
tools: {server: {exec: {${server('line')}}}}
hooks: {guard: {${server('allow')}, hook: tool, phases: [before_execution]}}
`;
  // A listener would slow the filter down.
  const { runtime } = await open(filtered, { onEvent: undefined });
  await seenBy(runtime, 'server');
  const traces = [one, undefined, two];
  const seen = await Promise.all(traces.map((each) => seenBy(runtime, 'server', { trace: each })));
  expect(seen).toEqual(traces);
});

test.each([
  ['text', { traceparent: 'abc' }],
  ['an all-zero trace', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
  ['an all-zero span', { traceparent: `00-${'1'.repeat(32)}-${'0'.repeat(16)}-01` }],
  ['capital letters', { traceparent: one.traceparent.replace('f0', 'F0') }],
  ['the version ff', { traceparent: one.traceparent.replace(/^00/, 'ff') }],
  ['more fields than its version has', { traceparent: `${one.traceparent}-more` }],
  ['a line break', { traceparent: `${one.traceparent}\n` }],
  ['a state with a line break', { ...one, tracestate: 'a=1\nb=2' }],
  ['a state that is too long', { ...one, tracestate: 'x'.repeat(513) }],
  ['null', { traceparent: null as never }],
])('a trace with %s is an error, and starts nothing', async (_, given) => {
  const { runtime, events, folder } = await open(
    spec,
    {},
    { 'ok.pipeline.yaml': pipeline('steps: [{id: a, tool: oneshot}]') },
  );
  const options = { trace: given };
  const usage = { code: 'USAGE', message: expect.stringContaining('W3C Trace Context') };
  await expect(runtime.tools.call('oneshot', {}, options)).rejects.toMatchObject(usage);
  await expect(runtime.tools.start('oneshot', {}, options).id).rejects.toMatchObject(usage);
  await expect(
    runtime.evals.call('contains', { content: 'x', params: { patterns: ['x'] } }, options),
  ).rejects.toMatchObject(usage);
  await expect(runtime.run(join(folder, 'ok.pipeline.yaml'), {}, options)).rejects.toMatchObject(usage);
  expect(startsIn(events)).toEqual([]);
});

test('a later version of the standard may have more fields', async () => {
  const { runtime } = await open(spec);
  const traceparent = `${one.traceparent.replace(/^00/, '01')}-more`;
  expect(await seenBy(runtime, 'server', { trace: { traceparent } })).toEqual({ traceparent });
});

const everywhere = `
tools: {env: {exec: {command: $bin/print-env}}}
evals: {graded: {command: sh, args: ["-c", 'echo "$TRACEPARENT" >> $folder/seen; echo "{\\"score\\": 1}"']}}
hooks:
  model: {command: sh, args: ["-c", 'echo "$TRACEPARENT" >> $folder/seen; echo "{\\"allow\\": true}"'], hook: provider, phases: [before_call]}
  told: {command: sh, args: ["-c", 'echo "$TRACEPARENT" >> $folder/seen'], hook: session, phases: [session_end], mode: observe}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: hi, repeat: true}]}}]
`;

const files = {
  'all.pipeline.yaml': pipeline(`steps:
  - {id: env, tool: env}
  - {id: answer, chat: {provider: main, messages: [{role: user, content: hi}]}}
  - {id: grade, eval: graded, content: x}
output: \${steps.env.result.TRACEPARENT}
`),
  'all.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: '\${subject.text}'}
subject: {chat: {provider: main, messages: [{role: user, content: hi}]}}
evals: [{id: graded, type: graded}]
`),
};

const acts: Readonly<
  Record<
    string,
    readonly [act: (runtime: Runtime, folder: string, given: Trace) => Promise<unknown>, programs: number]
  >
> = {
  'an eval': [(runtime, _, given) => runtime.evals.call('graded', { content: 'x' }, { trace: given }), 1],
  'a run': [
    async (runtime, folder, given) => {
      const { output } = await runtime.run(join(folder, 'all.pipeline.yaml'), {}, { trace: given });
      expect(output).toBe(given.traceparent);
    },
    3,
  ],
  'a suite': [
    (runtime, folder, given) => runtime.evals.run(join(folder, 'all.suite.yaml'), { trace: given }),
    3,
  ],
  'an event': [
    (runtime, _, given) =>
      runtime.hooks.fire(
        { hook: 'provider', phase: 'before_call', request: { messages: [{ role: 'user', content: 'hi' }] } },
        { trace: given },
      ),
    1,
  ],
  'a request': [
    async (runtime, _, given) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      const request = { method: 'POST', body, headers: { ...given } };
      await (
        await runtime.gateway().fetch(new Request('http://127.0.0.1/v1/chat/completions', request))
      ).text();
    },
    1,
  ],
};

test.each(Object.entries(acts))('the trace of %s reaches every program in it', async (_, [act, programs]) => {
  const { runtime, folder, events } = await open(everywhere, {}, files);
  await act(runtime, folder, two);
  await runtime.close();
  const seen = readFileSync(join(folder, 'seen'), 'utf8').split('\n').slice(0, -1);
  expect(seen).toEqual(Array.from({ length: programs }, () => two.traceparent));
  // Only the first operation has it; the others have a parent.
  const roots = startsIn(events).filter(({ parent }) => parent === undefined);
  expect(roots.map((start) => start.trace?.traceparent)).toEqual(roots.map(() => two.traceparent));
});

test('an invalid header of a request is ignored', async () => {
  const { runtime, events } = await open(everywhere);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { traceparent: 'nonsense', tracestate: 'a=1' };
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body, headers });
  expect((await runtime.gateway().fetch(request)).status).toBe(200);
  expect(startsIn(events).map((start) => start.trace)).toEqual([undefined]);
});

test('a recording has no trace, so that a call with another one finds its reply', async () => {
  const cassette = join(folderOf({}), 'calls.cassette');
  const recording = await open(spec, { cassette: { record: cassette } });
  const first = await Promise.all([
    seenBy(recording.runtime, 'oneshot', { trace: one }),
    seenBy(recording.runtime, 'server', { trace: one }),
  ]);
  await recording.runtime.close();
  const replaying = await open(spec, { cassette: { replay: cassette } });
  const again = await Promise.all([
    seenBy(replaying.runtime, 'oneshot', { trace: two }),
    seenBy(replaying.runtime, 'server'),
  ]);
  // The reply of the programs, which repeats the trace that they were given when it was recorded.
  expect(again).toEqual(first);
});
