import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { catalogue } from '../../../src/base/errors.ts';
import type { Measures } from '../../../src/contract/event.ts';
import { openRuntime, type Runtime } from '../../../src/index.ts';
import { openHistograms } from '../../../src/runtime/telemetry/histograms.ts';
import { openMetrics } from '../../../src/runtime/telemetry/metrics.ts';
import { answerJson, startUpstream } from '../../gateway/upstream-server.ts';
import { pipeline, suite } from '../../workspace.ts';
import { write } from '../open.ts';

const spec = `
telemetry: {traces: false}
tools:
  echo: {exec: {command: $bin/echo-args}}
  crash: {exec: {command: $bin/crash.sh}}
  gated: {exec: {command: $bin/echo-args}, approval: {}}
  judged: {exec: {command: $bin/echo-args}}
evals:
  score: {command: $bin/eval-score}
hooks:
  deny: {command: $bin/deny.sh, hook: tool, phases: [before_execution], match: {tools: [judged]}}
  fails: {command: $bin/crash.sh, hook: provider, phases: [before_call], mode: shadow}
providers:
  - {id: main, type: mock, model: plain, additional_config: {responses: [{text: hello there you, repeat: true}]}}
  - {id: slow, type: mock, model: slow, additional_config: {responses: [{text: a b c, delay_ms: 300, repeat: true}]}}
  - {id: failing, type: mock, model: failing, additional_config: {responses: [{error: {status: 400, message: no}, repeat: true}]}}
`;

const chat = 'steps: [{id: a, chat: {provider: main, messages: [{role: user, content: hi}]}}]';
const files = {
  'desk.pipeline.yaml': pipeline(chat),
  'slow.pipeline.yaml': pipeline(chat.replace('main', 'slow'), 'slow'),
  'gated.pipeline.yaml': pipeline('steps: [{id: a, tool: gated}]', 'gated'),
  'demo.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: hi}
evals: [{id: quality, type: score, params: {score: 0.25}}]
`),
};

async function openMeasured(text = spec, more: Readonly<Record<string, string>> = {}) {
  const file = write(text, { ...files, ...more });
  const runtime = await openRuntime(file, { log: false, ownsTelemetry: true });
  onTestFinished(() => runtime.close());
  const scrape = async () => (await runtime.telemetry.metrics?.())?.text ?? '';
  return {
    runtime,
    run: (name: string) => runtime.run(join(file, '..', `${name}.pipeline.yaml`)),
    file,
    scrape,
  };
}

async function post(runtime: Runtime, model: string, stream = false): Promise<void> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] });
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
  await (await runtime.gateway().fetch(request)).text();
}

/** A scrape without the target, buckets, units and sums. */
function withoutTimes(text: string): string[] {
  const varies = /^# UNIT|target_info|_bucket\{|_(seconds|usage)_sum\{/;
  return text.split('\n').filter((line) => line !== '' && !varies.test(line));
}

test('a scrape has calls, hooks, processes, requests, evals and pending calls', async () => {
  const { runtime, run, file, scrape } = await openMeasured();
  for (const tool of ['echo', 'crash', 'judged']) await runtime.tools.call(tool, {});
  await expect(runtime.tools.call('of nobody', {})).rejects.toThrow('there is no tool');
  await run('desk');
  await run('gated');
  await runtime.evals.run(join(file, '..', 'demo.suite.yaml'));
  for (const model of ['plain', 'failing', 'of nobody']) await post(runtime, model);
  const text = (await scrape()).replace(/^(signalbox_pending_age_seconds) .+$/m, '$1 AGE');
  await expect(withoutTimes(text).join('\n')).toMatchFileSnapshot('scrape.txt');
  expect(checkWithPromtool(await scrape())).toBe('');
});

/** What `promtool check metrics` objects to. Without Prometheus, nothing. */
function checkWithPromtool(text: string): string {
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  return error === undefined ? stdout + stderr : '';
}

test('the overhead of a call excludes its process, its model and its stream', async () => {
  const { runtime, run, scrape } = await openMeasured();
  await runtime.tools.call('echo', {});
  await run('slow');
  const sumOf = async (metric: string, label: string) => {
    const [, sum] = new RegExp(`^${metric}_sum\\{.*"${label}".* (\\S+)$`, 'm').exec(await scrape()) ?? [];
    return Number(sum);
  };
  const durationOf = async () => await sumOf('gen_ai_client_operation_duration_seconds', 'slow');
  const overheadOf = async (kind: string) => await sumOf('signalbox_overhead_seconds', kind);
  const whole = await sumOf('gen_ai_execute_tool_duration_seconds', 'echo');
  const inProcess = await sumOf('signalbox_process_duration_seconds', 'echo');
  expect(await overheadOf('tool')).toBeCloseTo(whole - inProcess, 9);
  // A timer may be a millisecond early.
  const model = await durationOf();
  expect(await overheadOf('model')).toBeLessThan(model - 0.295);
  await post(runtime, 'slow');
  const whole1 = (await durationOf()) - model;
  const overhead1 = await overheadOf('gateway');
  expect(overhead1).toBeLessThan(whole1 - 0.295);
  await post(runtime, 'slow', true);
  expect((await overheadOf('gateway')) - overhead1).toBeLessThan(
    (await durationOf()) - model - whole1 - 0.295,
  );
});

const mcpServer = `#!/usr/bin/env node
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method](params) }));
});
`;

test('calls of MCP servers and of HTTP hooks of other systems are counted by what answered', async () => {
  await using hooks = await startUpstream(answerJson({}));
  const settings = { PreToolUse: [{ hooks: [{ type: 'http', url: hooks.url }] }] };
  const { runtime, scrape } = await openMeasured(
    `
telemetry: {traces: false}
private_hosts: [127.0.0.1]
mcp_servers: [{name: desk, command: $folder/desk.cjs}]
imports: [{dialect: claude, file: $folder/settings.json}]
`,
    { 'desk.cjs': mcpServer, 'settings.json': JSON.stringify({ hooks: settings }) },
  );
  await runtime.tools.call('desk__ask', {});
  const counts = (await scrape()).split('\n').filter((line) => /^\w+_count\{/.test(line));
  expect(counts.map((line) => line.replace(/^(?:gen_ai|signalbox)_/, ''))).toEqual([
    'execute_tool_duration_seconds_count{gen_ai_operation_name="execute_tool",gen_ai_tool_type="function",gen_ai_tool_name="other"} 1',
    'hook_duration_seconds_count{hook="PreToolUse-1",phase="before_execution",mode="filter",verdict="allow"} 1',
    'process_duration_seconds_count{entry="PreToolUse-1",status="ok"} 1',
    'process_duration_seconds_count{entry="desk",status="ok"} 1',
    'queue_seconds_count{entry="PreToolUse-1"} 1',
    'queue_seconds_count{entry="desk"} 1',
    'overhead_seconds_count{operation="tool"} 1',
  ]);
});

test('no name of a request is in a scrape', async () => {
  const { runtime, scrape } = await openMeasured();
  const secret = 'sk-seeded-0123456789abcdef';
  await expect(runtime.tools.call(secret, {})).rejects.toThrow();
  await post(runtime, secret);
  await post(runtime, `plain/${secret}`);
  const path = new Request(`http://127.0.0.1/v1/${secret}?key=${secret}`, { method: 'POST', body: '{}' });
  await (await runtime.gateway().fetch(path)).text();
  const text = await scrape();
  expect(text).toContain('gen_ai_tool_name="other"');
  expect(text).not.toContain('seeded');
});

const names = {
  tools: new Set(['tool', 'quoted "tool"', 'two\nlines', 'half \ud83d', 'nul \0']),
  hooks: new Set(['hook', '__proto__']),
  evals: new Set(['eval']),
  servers: new Set(['server']),
  models: new Set(['model']),
  providers: new Map([['main', 'openai']]),
};

const anyName = fc.oneof(
  fc.constantFrom(...names.tools, ...names.hooks, 'eval', 'server', 'model', 'main', 'chat', 'other'),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '',
    '\0',
    '\ud800',
    '"} 1\nfake 2',
    'x'.repeat(1_000_000),
  ),
  fc.constantFrom(...Object.keys(catalogue), 'deny', 'ok', 'before_call'),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** Takes figures of any names in every place that has one. */
function measureAny(measures: Measures, seed: number, count: number): void {
  const any = fc.sample(anyName, { seed, numRuns: count });
  for (const [index, name] of any.entries()) {
    // In a real call, types exclude most of these.
    const pick = (step: number): never => any[(index * 7 + step * 131) % count] as never;
    const error = index % 2 === 0 ? { code: pick(1), message: pick(2) } : undefined;
    const took = { durationMs: index % 97, queueMs: index % 3, ownMs: index % 5 };
    measures.exchange(name, pick(3), took);
    measures.hook(
      { hook: name, kind: 'tool', phase: pick(4), mode: pick(5) },
      { verdict: pick(6), error, ...took },
    );
    const end = {
      status: 'ok',
      error,
      score: index % 2,
      passed: index % 3 === 0,
      inputTokens: 3,
      ...took,
    } as const;
    const parent = { operation: 'case', name: pick(7), case: pick(8), epoch: 1 } as const;
    const answeredBy = { provider: pick(9), model: pick(10) };
    measures.operation({ operation: 'tool', name, call: pick(11) }, end, undefined);
    measures.operation({ operation: 'eval', name, eval: pick(12) }, end, parent);
    measures.operation({ operation: 'pipeline', name, run: pick(13), isResumed: false }, end, undefined);
    const model = { operation: 'model', name, provider: pick(14), isStreamed: true } as const;
    measures.operation(model, { ...end, answeredBy, firstChunkMs: 4 }, undefined);
    const gateway = { operation: 'gateway', name, call: pick(15) } as const;
    measures.operation(gateway, { ...end, answeredBy, model: pick(16), httpStatus: index }, undefined);
  }
}

const errors = Object.keys(catalogue).length;
const pendings = async () => ({ open: 2, overdue: 1, oldestMs: 90_000 });
const text = (value: string) => value;

function openOwn() {
  const { createHistogram, producer } = openHistograms({ name: 'signalbox', version: '1' });
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [producer] });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('signalbox');
  const others = {
    createCounter: meter.createCounter.bind(meter),
    createObservableGauge: meter.createObservableGauge.bind(meter),
  };
  return { reader, metrics: openMetrics({ meter: { createHistogram, ...others }, text, names, pendings }) };
}

function openHosted() {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('signalbox');
  return { reader, metrics: openMetrics({ meter, text, names, pendings }) };
}

async function scrapeOf(reader: PrometheusExporter): Promise<string> {
  const { resourceMetrics, errors } = await reader.collect();
  expect(errors).toEqual([]);
  return new PrometheusSerializer(undefined, false, undefined, false, true).serialize(resourceMetrics);
}

/** How many values a label may have: its set, and `other`. */
const mostValues: Readonly<Record<string, number>> = {
  ...{ gen_ai_tool_name: 6, hook: 3, entry: 10, gen_ai_request_model: 2, gen_ai_response_model: 2 },
  ...{ gen_ai_provider_name: 3, gen_ai_operation_name: 5, gen_ai_token_type: 2, gen_ai_tool_type: 1 },
  // The first names of files.
  ...{ gen_ai_agent_name: 101, suite: 101, eval: 101 },
  ...{ error_type: errors + 1, error_code: errors + 1, phase: 150, mode: 4, verdict: 8 },
  ...{ status: 405, outcome: 3, operation: 5, endpoint: 6, state: 2 },
};

describe('names of any kind', () => {
  test.each([
    { by: 'our histograms', open: openOwn, count: 100_000 },
    { by: 'an SDK of the host', open: openHosted, count: 5_000 },
  ])('leave a valid scrape of bounded size by $by', async ({ open, count }) => {
    const { reader, metrics } = open();
    measureAny(metrics.measures, 7, count);
    const text = await scrapeOf(reader);
    const lines = text.split('\n').filter((line) => !line.startsWith('target_info'));
    const values = new Map<string, Set<string>>();
    for (const [, label = '', value = ''] of text.matchAll(/[{,](?!le=)(\w+)="((?:[^"\\]|\\.)*)"/g))
      if (!/^service_|^telemetry_|^otel_metric_overflow$/.test(label))
        values.set(label, (values.get(label) ?? new Set()).add(value));
    const tooMany = [...values].filter(([label, { size }]) => size > (mostValues[label] ?? 0));
    expect(tooMany).toEqual([]);
    expect([...values.keys()].toSorted()).toEqual(Object.keys(mostValues).toSorted());
    expect(text.isWellFormed() && text.replaceAll('\n', '').match(/\p{Cc}/u)).toBe(null);
    expect(lines.filter((line) => line.includes('_count{')).length).toBeLessThan(10 * 2_000);
    expect(lines.filter((line) => line.length > 1_500 || !/^#|^$|^\w+(\{.*\})? \S+$/.test(line))).toEqual([]);
    expect(checkWithPromtool(text)).toBe('');
  });
});

test('both kinds of histograms count the same', async () => {
  const [own, hosted] = [openOwn(), openHosted()];
  for (const { metrics } of [own, hosted]) measureAny(metrics.measures, 3, 500);
  const linesOf = async ({ reader }: ReturnType<typeof openOwn>) =>
    (await scrapeOf(reader))
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .toSorted();
  // Prometheus's names have the unit, which the SDK's exporter leaves out.
  const named = (line: string) =>
    line.replace(/^(gen_ai_\w+?(?:duration|first_chunk))(_(?:bucket|sum|count))/, '$1_seconds$2');
  expect((await linesOf(hosted)).map(named).toSorted()).toEqual(await linesOf(own));
});

test('metrics of the conventions have their names, units and attributes', async () => {
  const { reader, metrics } = openHosted();
  measureAny(metrics.measures, 5, 500);
  const { resourceMetrics } = await reader.collect();
  const found = resourceMetrics.scopeMetrics.flatMap(({ metrics: all }) =>
    all
      .filter(({ descriptor: { name } }) => name.startsWith('gen_ai.'))
      .map(({ descriptor: { name, unit }, dataPointType, dataPoints }) => ({
        ...{ name, unit, instrument: dataPointType === 0 ? 'histogram' : 'other' },
        attributes: new Set(dataPoints.flatMap(({ attributes }) => Object.keys(attributes))),
      })),
  );
  const file = join(import.meta.dirname, 'conventions/metrics.yaml');
  const known: readonly { name: string; attributes: readonly string[] }[] = parse(
    readFileSync(file, 'utf8'),
  ).metrics;
  const expected = known.map(({ attributes, ...rest }) => ({ ...rest, attributes: new Set(attributes) }));
  const sorted = <Item extends { readonly name: string }>(items: readonly Item[]) =>
    items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  expect(sorted(found)).toEqual(sorted(expected));
});

test('closed metrics read no store', async () => {
  let reads = 0;
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('signalbox');
  const read = async () => {
    reads += 1;
    return await pendings();
  };
  const metrics = openMetrics({ meter, text, names, pendings: read });
  expect(await scrapeOf(reader)).toContain('signalbox_pending_age_seconds 90');
  metrics.close();
  await scrapeOf(reader);
  expect(reads).toBe(1);
});
