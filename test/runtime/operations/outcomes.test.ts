import { setTimeout as sleep } from 'node:timers/promises';
import { simulateReadableStream, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import type { Runtime, RuntimeEvent } from '../../../src/index.ts';
import { allOf, until } from '../../process/harness.ts';
import { pipeline, suite } from '../../workspace.ts';
import { open } from '../open.ts';
import { startsIn, treeOf } from './tracked.ts';

const spec = `
tools:
  echo: {exec: {command: $bin/echo-args}, input_schema: {type: object, properties: {n: {type: number}}}}
  crash: {exec: {command: $bin/crash.sh}}
  asks: {exec: {command: $bin/pending.sh}}
  gated: {exec: {command: $bin/echo-args}, approval: {}}
  hangs: {exec: {command: $bin/hang.sh}}
  judged: {exec: {command: $bin/echo-args}}
  unsure: {exec: {command: $bin/echo-args}}
evals:
  score: {command: $bin/eval-score}
  broken: {command: $bin/crash.sh}
  slow: {command: $bin/hang.sh}
hooks:
  deny: {command: $bin/deny.sh, hook: tool, phases: [before_execution], match: {tools: [judged]}}
  fails: {command: $bin/crash.sh, hook: tool, phases: [before_execution], match: {tools: [unsure]}}
  forbid: {command: $bin/deny.sh, hook: provider, phases: [before_call], match: {models: [forbidden]}}
  withhold: {command: $bin/deny.sh, hook: provider, phases: [after_call], match: {models: [withheld]}}
providers:
  - {id: main, type: mock, model: plain, additional_config: {responses: [{text: hello there you}]}}
  - {id: forbidden, type: mock, model: forbidden, additional_config: {responses: [{text: hello}]}}
  - {id: withheld, type: mock, model: withheld, additional_config: {responses: [{text: hello}]}}
  - {id: failing, type: mock, model: failing, additional_config: {responses: [{error: {status: 400, message: no}, repeat: true}]}}
  - {id: cut, type: mock, model: cut, additional_config: {responses: [{text: hello there, error: {status: 500, message: cut}, repeat: true}]}}
  - {id: slow, type: mock, model: slow, additional_config: {responses: [{text: a b c d e f, delay_ms: 60000, repeat: true}]}}
  - {id: calls, type: mock, model: calls, additional_config: {responses: [{when: round == 1, tool_calls: [{name: echo, args: {n: 1}}], repeat: true}, {text: done, repeat: true}]}}
`;

const chat = (provider: string, more = '') => `
steps:
  - id: answer
    chat: {provider: ${provider}, messages: [{role: user, content: hi}], tools: [echo]${more}}
`;

const pipelines: Readonly<Record<string, string>> = {
  ok: 'steps: [{id: a, tool: echo}]',
  failed: 'steps: [{id: a, tool: crash}]',
  denied: 'steps: [{id: a, tool: judged}]',
  pending: 'steps: [{id: a, tool: gated}]',
  waits: 'steps: [{id: a, wait: 10m}]',
  hangs: 'steps: [{id: a, tool: hangs}]',
  plain: chat('main'),
  streamed: chat('main', ', stream: hold'),
  windowed: chat('main', ', stream: windowed'),
  forbidden: chat('forbidden'),
  withheld: chat('withheld'),
  failing: chat('failing'),
  cut: chat('cut', ', stream: windowed'),
  slow: chat('slow'),
  calls: chat('calls'),
  outer: 'steps: [{id: inner, pipeline: calls.pipeline.yaml}]',
};

const files = {
  ...Object.fromEntries(
    Object.entries(pipelines).map(([name, text]) => [`${name}.pipeline.yaml`, pipeline(text, name)]),
  ),
  'cases.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: hi}
evals: [{id: quality, type: score, params: {score: 0.25}}]
`),
  'subjects.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: '\${subject.text}'}
subject: {pipeline: outer.pipeline.yaml}
evals: [{id: done, type: contains, params: {patterns: [done]}}]
`),
  'crash.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: '\${subject.text}'}
subject: {tool: crash}
evals: [{id: done, type: contains, params: {patterns: [done]}}]
`),
};

interface Desk {
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  readonly folder: string;
}

type Act = (desk: Desk) => Promise<unknown>;

const call =
  (name: string, args: unknown = {}): Act =>
  ({ runtime }) =>
    runtime.tools.call(name, args);

const run =
  (name: string): Act =>
  ({ runtime, folder }) =>
    runtime.run(`${folder}/${name}.pipeline.yaml`, {}, { longestWaitMs: 0 });

const runSuite =
  (name: string): Act =>
  ({ runtime, folder }) =>
    runtime.evals.run(`${folder}/${name}.suite.yaml`);

const post =
  (model: string, more: object = {}): Act =>
  async ({ runtime }) => {
    const gateway = runtime.gateway();
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more });
    const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
    return await (await gateway.fetch(request)).text();
  };

/** Begins work that takes long, and ends it in another way. */
const cut =
  (begin: (desk: Desk, signal: AbortSignal) => Promise<unknown>, end?: Act): Act =>
  async (desk) => {
    const abort = new AbortController();
    const before = startsIn(desk.events).length;
    const begun = begin(desk, abort.signal);
    begun.catch(() => {});
    await until(() => startsIn(desk.events).length > before, 'start of the operation');
    await sleep(20);
    await (end === undefined ? abort.abort() : end(desk));
    await begun;
  };

const guarded =
  (text: 'whole' | 'broken' | 'left'): Act =>
  async ({ runtime }) => {
    const parts = [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'hello' },
      ...(text === 'broken' ? [{ type: 'error', error: new Error('cut') }] : []),
      { type: 'text-end', id: 't' },
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
      },
    ] as never[];
    const model = wrapLanguageModel({
      model: new MockLanguageModelV4({
        modelId: 'own',
        provider: 'host',
        doStream: async () => ({ stream: simulateReadableStream({ chunks: parts }) }),
      }),
      middleware: runtime.guard({ stream: 'windowed', window: 1 }),
    });
    const { stream } = await model.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    });
    if (text === 'left') {
      const reader = stream.getReader();
      const read = reader.read();
      await Promise.all([read.catch(() => {}), reader.cancel(), reader.read().catch(() => {})]);
    } else for await (const _ of stream);
  };

/** Each row is an act, and the operations that it must have. */
const rows: Readonly<Record<string, readonly [act: Act, tree: readonly string[]]>> = {
  'a tool that answers': [call('echo'), ['tool echo: ok']],
  'arguments that do not fit': [call('echo', { n: 'x' }), ['tool echo: failed ARGS_INVALID']],
  'arguments that are no object': [call('echo', []), ['tool echo: failed ARGS_INVALID']],
  'an unknown tool': [call('nothing'), ['tool nothing: failed NAME_UNKNOWN']],
  'a tool that crashes': [call('crash'), ['tool crash: failed PROCESS_EXIT']],
  'a tool that asks': [call('asks'), ['tool asks: pending']],
  'a tool that needs an approval': [call('gated'), ['tool gated: pending']],
  'a call that a hook denies': [call('judged'), ['tool judged: denied']],
  'a call whose hook crashes': [call('unsure'), ['tool unsure: denied PROCESS_EXIT']],
  'a call that its caller aborts': [
    cut(({ runtime }, signal) => runtime.tools.call('hangs', {}, { signal })),
    ['tool hangs: cancelled ABORTED'],
  ],
  'a started call': [async ({ runtime }) => await runtime.tools.start('echo', {}).done, ['tool echo: ok']],
  'an eval that scores': [
    ({ runtime }) => runtime.evals.call('score', { content: 'x', params: { score: 0.5 } }),
    ['eval score: ok'],
  ],
  'an eval that declines': [
    ({ runtime }) => runtime.evals.call('score', { content: 'x', params: { abstain: 'no idea' } }),
    ['eval score: ok'],
  ],
  'an eval that crashes': [
    ({ runtime }) => runtime.evals.call('broken', { content: 'x' }),
    ['eval broken: failed PROCESS_EXIT'],
  ],
  'a check': [
    ({ runtime }) => runtime.evals.call('contains', { content: 'x', params: { patterns: ['y'] } }),
    ['eval contains: ok'],
  ],
  'an eval that its caller aborts': [
    cut(({ runtime }, signal) => runtime.evals.call('slow', { content: 'x' }, { signal })),
    ['eval slow: cancelled ABORTED'],
  ],
  'a pipeline that completes': [run('ok'), ['pipeline ok: ok', '  tool echo: ok']],
  'a pipeline that fails': [
    run('failed'),
    ['pipeline failed: failed PROCESS_EXIT', '  tool crash: failed PROCESS_EXIT'],
  ],
  'a pipeline with a denied call': [
    run('denied'),
    ['pipeline denied: denied DENIED', '  tool judged: denied'],
  ],
  'a pipeline that waits for a person': [
    run('pending'),
    ['pipeline pending: pending', '  tool gated: pending'],
  ],
  'a pipeline that waits for a time': [run('waits'), ['pipeline waits: suspended']],
  'a run that its caller aborts': [
    cut(({ runtime, folder }, signal) => runtime.run(`${folder}/hangs.pipeline.yaml`, {}, { signal })),
    ['pipeline hangs: cancelled ABORTED', '  tool hangs: cancelled ABORTED'],
  ],
  'a chat': [run('plain'), ['pipeline plain: ok', '  model plain: ok']],
  'a streamed chat': [run('streamed'), ['pipeline streamed: ok', '  model plain: ok']],
  'a chat that streams at once': [run('windowed'), ['pipeline windowed: ok', '  model plain: ok']],
  'a chat that a hook denies': [
    run('forbidden'),
    ['pipeline forbidden: denied DENIED', '  model forbidden: denied DENIED'],
  ],
  'an answer that a hook withholds': [
    run('withheld'),
    ['pipeline withheld: denied DENIED', '  model withheld: denied DENIED'],
  ],
  'a model that fails': [
    run('failing'),
    ['pipeline failing: failed PROVIDER_FAILED', '  model failing: failed PROVIDER_FAILED'],
  ],
  'a stream that breaks off': [
    run('cut'),
    ['pipeline cut: suspended PROVIDER_FAILED', '  model cut: failed PROVIDER_FAILED'],
  ],
  'a chat that its caller aborts': [
    cut(({ runtime, folder }, signal) => runtime.run(`${folder}/slow.pipeline.yaml`, {}, { signal })),
    ['pipeline slow: cancelled ABORTED', '  model slow: cancelled ABORTED'],
  ],
  'a guarded stream': [guarded('whole'), ['model own: ok']],
  'a guarded stream that breaks off': [guarded('broken'), ['model own: failed PROVIDER_FAILED']],
  'a guarded stream whose reader leaves': [guarded('left'), ['model own: cancelled ABORTED']],
  'a request': [post('plain'), ['gateway chat: ok']],
  'a streamed request': [post('plain', { stream: true }), ['gateway chat: ok']],
  'a request that a hook denies': [post('forbidden'), ['gateway chat: denied content_filter']],
  'a streamed answer that a hook withholds': [
    post('withheld', { stream: true }),
    ['gateway chat: denied content_filter'],
  ],
  'a request for an unknown model': [post('nothing'), ['gateway chat: failed model_not_found']],
  'a request without messages': [post('plain', { messages: 1 }), ['gateway chat: failed invalid_request']],
  'a request to a model that fails': [post('failing'), ['gateway chat: failed']],
  'a stream whose reader leaves': [
    async ({ runtime }) => {
      const body = JSON.stringify({
        model: 'slow',
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
      });
      const abort = new AbortController();
      const { signal } = abort;
      const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body, signal });
      const answered = runtime.gateway().fetch(request);
      setTimeout(() => abort.abort(), 50);
      await (await answered).text();
    },
    ['gateway chat: cancelled'],
  ],
  'a case below its threshold': [runSuite('cases'), ['case demo: ok', '  eval score: ok']],
  'a case whose subject crashes': [
    runSuite('crash'),
    ['case demo: failed PROCESS_EXIT', '  tool crash: failed PROCESS_EXIT'],
  ],
  'a tool call in a chat in a pipeline in a pipeline of a case': [
    runSuite('subjects'),
    [
      'case demo: ok',
      '  pipeline outer: ok',
      '    pipeline calls: ok',
      '      model calls: ok',
      '      tool echo: ok',
      '      model calls: ok',
      '  eval contains: ok',
    ],
  ],
};

test.each(Object.entries(rows))(
  '%s, once and ten times at once: each start has one end',
  async (_, [act, tree]) => {
    const desk = await open(spec, {}, files);
    await act(desk).catch(() => {});
    expect(treeOf(desk.events)).toEqual(tree);
    await Promise.all(Array.from({ length: 9 }, () => act(desk).catch(() => {})));
    await until(() => allOf(desk.events, 'operation.finished').length === 10 * tree.length, 'all ends');
    expect(treeOf(desk.events).toSorted()).toEqual(
      Array.from({ length: 10 }, () => tree)
        .flat()
        .toSorted(),
    );
  },
);

test('what still runs when the runtime closes ends as cancelled', async () => {
  const desk = await open(spec, {}, files);
  const begun = [
    call('hangs')(desk),
    run('hangs')(desk),
    run('slow')(desk),
    desk.runtime.evals.call('slow', { content: 'x' }),
  ];
  for (const each of begun) each.catch(() => {});
  await until(() => startsIn(desk.events).length === 6, 'starts');
  await desk.runtime.close();
  await Promise.allSettled(begun);
  expect(treeOf(desk.events).toSorted()).toEqual([
    '  model slow: cancelled ABORTED',
    '  tool hangs: cancelled ABORTED',
    'eval slow: cancelled ABORTED',
    'pipeline hangs: cancelled ABORTED',
    'pipeline slow: cancelled ABORTED',
    'tool hangs: cancelled ABORTED',
  ]);
});

test('a run that somebody cancels ends as cancelled, and so does its call', async () => {
  const desk = await open(spec, {}, files);
  const { runtime, events, folder } = desk;
  const started = runtime.run(`${folder}/pending.pipeline.yaml`, {}, { wait: true });
  started.catch(() => {});
  await until(() => allOf(events, 'pending.opened').length === 1, 'pending call');
  const [{ run: id = '' } = {}] = allOf(events, 'pending.opened');
  await runtime.runs.cancel(id, { by: 'ana' });
  await started.catch(() => {});
  expect(treeOf(events)).toContain('pipeline pending: cancelled RUN_ENDED');
});

test('a call that continues after its approval is a second operation, with the run that it waited in', async () => {
  const { runtime, events, folder } = await open(spec, {}, files);
  const { run_id, pending } = await runtime.run(`${folder}/pending.pipeline.yaml`, {});
  await runtime.pending.approve(pending[0]?.id ?? '', { by: 'ana' });
  await runtime.runs.resume(run_id);
  expect(treeOf(events)).toEqual([
    'pipeline pending: pending',
    '  tool gated: pending',
    'pipeline pending: ok',
    '  tool gated: ok',
  ]);
  expect(startsIn(events).map(({ run }) => run)).toEqual([run_id, run_id, run_id, run_id]);
});
