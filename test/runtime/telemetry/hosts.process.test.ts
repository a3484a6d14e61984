import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { start } from '../../cli/command-line.ts';
import { config, folderOf } from '../../workspace.ts';
import { installApi, installSignalbox, linkPackage, olderApi } from './installed.ts';

const hook = '#!/bin/sh\necho \'{"allow": true}\'\n';
const desk = {
  'runtime.yaml': config(`
telemetry: {metrics: false}
providers: [{id: main, type: mock, model: scripted, additional_config: {responses: [{text: Hi}]}}]
tools:
  greet: {exec: {command: ./greet.sh}}
hooks:
  guard: {command: ./allow.sh, hook: provider, phases: [before_call]}
`),
  'talk.pipeline.yaml': `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: talk}
spec:
  runtime: ./runtime.yaml
  steps: [{id: answer, chat: {provider: main, messages: [{role: user, content: Hello}]}}]
`,
  'greet.sh': '#!/bin/sh\necho \'{"result": "hello"}\'\n',
  'allow.sh': hook,
};

/** Registers an SDK, and prints its spans and the warnings of Signalbox as one line of JSON. */
const host = `
import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
const storage = new AsyncLocalStorage();
context.setGlobalContextManager({
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, work, self, ...args) => storage.run(active, () => work.apply(self, args)),
  bind: (active, work) => (...args) => storage.run(active, () => work(...args)),
  enable() { return this; },
  disable() { return this; },
});
const { openRuntime } = await import('signalbox');
const notes = [];
const onEvent = (event) => event.type === 'note' && notes.push(event.message);
const runtime = await openRuntime(process.argv[2], { onEvent, log: false });
const main = await import(process.argv[3]);
await main.default(runtime);
await runtime.close();
const spans = exporter.getFinishedSpans().map((span) => ({
  name: span.name, id: span.spanContext().spanId, parent: span.parentSpanContext?.spanId, by: span.instrumentationScope.name,
}));
console.log(JSON.stringify({ spans, notes }));
`;

const callsATool = "export default (runtime) => runtime.tools.call('greet', {});";

interface Seen {
  readonly spans: readonly {
    readonly name: string;
    readonly id: string;
    readonly parent?: string;
    readonly by: string;
  }[];
  readonly notes: readonly string[];
}

/** A host program in a project with Signalbox, whose config is in the same folder unless one is given. */
async function runHost(project: string, main: string, folder = project): Promise<Seen> {
  const files = { 'host.mjs': host, 'main.mjs': main };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  const args = ['host.mjs', join(folder, 'runtime.yaml'), join(project, 'main.mjs')];
  const { code, stdout, stderr } = await start(args, { cwd: project }, [process.execPath]).ran;
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function projectWith(api?: string): string {
  const project = folderOf(desk);
  installSignalbox(project);
  installApi(project, api);
  linkPackage(project, '@opentelemetry/sdk-trace');
  return project;
}

test.each([
  { title: '1.10, as Signalbox', api: undefined },
  { title: '1.9, as Signalbox', api: olderApi },
])('spans reach the SDK that a host registered with the API $title', async ({ api }) => {
  const { spans, notes } = await runHost(projectWith(api), callsATool);
  expect(spans.map(({ name, by }) => ({ name, by }))).toEqual([
    { name: 'execute_tool greet', by: 'signalbox' },
  ]);
  expect(notes).toEqual([]);
});

test('metrics reach the SDK that a host registered', async () => {
  const project = projectWith();
  linkPackage(project, '@opentelemetry/sdk-metrics');
  writeFileSync(
    join(project, 'runtime.yaml'),
    desk['runtime.yaml'].replace('metrics: false', 'traces: false'),
  );
  const main = `
import { metrics } from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-metrics';
class Reader extends sdk.MetricReader { onForceFlush() {} onShutdown() {} }
const reader = new Reader();
metrics.setGlobalMeterProvider(new sdk.MeterProvider({ readers: [reader] }));
export default async () => {
  const { openRuntime } = await import('signalbox');
  const runtime = await openRuntime(new URL('runtime.yaml', import.meta.url), { log: false });
  await runtime.tools.call('greet', {});
  const { resourceMetrics } = await reader.collect();
  const durations = resourceMetrics.scopeMetrics[0].metrics.filter(({ descriptor }) => descriptor.name === 'gen_ai.execute_tool.duration');
  const why = await runtime.telemetry.metrics().catch((error) => error.message);
  console.log(JSON.stringify({ spans: durations.flatMap(({ dataPoints }) => dataPoints.map((point) => ({ name: point.attributes['gen_ai.tool.name'], by: String(point.value.count) }))), notes: [why] }));
  process.exit();
};`;
  expect(await runHost(project, main)).toEqual({
    spans: [{ name: 'greet', by: '1' }],
    notes: ['the SDK of this process exports its metrics'],
  });
});

/** Signalbox and its copy of the API, in a folder above a project with an older copy. */
function nestedProject() {
  const outer = folderOf({});
  installSignalbox(outer);
  installApi(outer);
  const project = join(outer, 'project');
  mkdirSync(project);
  installApi(project, olderApi);
  linkPackage(project, '@opentelemetry/sdk-trace');
  return project;
}

test('spans that a newer copy of the API would lose are reported, with both copies', async () => {
  const { spans, notes } = await runHost(nestedProject(), callsATool, folderOf(desk));
  expect(spans).toEqual([]);
  expect(notes).toEqual([
    expect.stringMatching(
      /^telemetry: traces are lost: the SDK of this process was registered by @opentelemetry\/api 1\.9\.1, and Signalbox uses 1\.10\.0 \(\/.*\/node_modules\/@opentelemetry\/api\/.*\), which cannot see it\. Run: npm install @opentelemetry\/api@1\.9\.1$/,
    ),
  ]);
});

test('Signalbox uses the older copy of the API that is beside the config', async () => {
  const project = nestedProject();
  for (const [name, text] of Object.entries(desk)) writeFileSync(join(project, name), text, { mode: 0o755 });
  const { spans, notes } = await runHost(project, callsATool);
  expect(spans).toEqual([expect.objectContaining({ name: 'execute_tool greet' })]);
  expect(notes).toEqual([]);
});

describe('a model behind the guard', () => {
  const answer = `{ content: [{ type: 'text', text: 'Hi' }], finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }, warnings: [] }`;
  const main = (more: string) => `
import { generateText, registerTelemetry, wrapLanguageModel } from 'ai';
import { OpenTelemetry } from '@ai-sdk/otel';
${more}
const model = { specificationVersion: 'v4', provider: 'mine', modelId: 'large', supportedUrls: {}, doGenerate: async () => (${answer}) };
export default async (runtime) => {
  await generateText({ model: wrapLanguageModel({ model, middleware: runtime.guard() }), prompt: 'Hello' });
  await runtime.run(new URL('talk.pipeline.yaml', import.meta.url));
};`;
  const withAi = () => {
    const project = projectWith();
    for (const name of ['ai', '@ai-sdk/otel']) linkPackage(project, name);
    return project;
  };
  const parentOf = ({ spans }: Seen, id: string | undefined) => spans.find((span) => span.id === id)?.name;

  test.each([
    {
      title: 'has the chat span of the AI SDK, if that is registered',
      more: 'registerTelemetry(new OpenTelemetry());',
      by: 'gen_ai',
    },
    { title: 'has the chat span of Signalbox, if the AI SDK makes none', more: '', by: 'signalbox' },
  ])('$title', async ({ more, by }) => {
    const seen = await runHost(withAi(), main(more));
    const chats = seen.spans.filter(({ name }) => name.startsWith('chat '));
    expect(chats.map((span) => ({ name: span.name, by: span.by }))).toEqual([
      { name: 'chat large', by },
      { name: 'chat scripted', by: 'signalbox' },
    ]);
    const hooks = seen.spans.filter(({ name }) => name === 'signalbox.hook');
    expect(hooks.map(({ parent }) => parentOf(seen, parent))).toEqual(['chat large', 'chat scripted']);
  });
});
