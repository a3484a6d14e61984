import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Runtime } from '../../../src/index.ts';
import {
  contentNames,
  evaluationRows,
  hookRule,
  operationRules,
} from '../../../src/runtime/telemetry/attributes.ts';
import { pipeline, suite } from '../../workspace.ts';
import { type Attribute, type Exported, exportsOf, treeOf, valuesOf } from './exported.ts';

// No filter delays the calls of `lone`, so that the second one waits in the queue.
const spec = `
tools:
  env: {exec: {command: $bin/print-env}}
  fails: {exec: {command: $bin/crash.sh}}
  queued: {exec: {command: $bin/echo-args, concurrency: 1}}
  lone: {exec: {command: $bin/echo-args, concurrency: 1}}
evals: {score: {command: $bin/eval-score}, broken: {command: $bin/crash.sh}}
hooks:
  toll: {command: $bin/allow.sh, hook: tool, match: {tools: [env, fails, queued]}}
  denies: {command: $bin/deny.sh, hook: tool, phases: [before_execution], match: {tools: [queued]}}
  told: {command: $bin/record-event, env: [RECORD_FILE=record], hook: tool, phases: [after_execution], mode: observe}
  fails: {command: $bin/crash.sh, hook: tool, phases: [before_execution], mode: shadow, match: {tools: [env, fails, queued]}}
  reads: {command: $bin/allow.sh, hook: provider, phases: [before_call]}
providers:
  - {id: main, type: mock, model: large, additional_config: {responses: [{text: hello there you, usage: {input_tokens: 7, output_tokens: 3}, repeat: true}]}}
  - {id: none, type: mock, model: broken, additional_config: {responses: [{error: {status: 500, message: no}, repeat: true}]}}
  - {id: vectors, type: mock, model: embed, role: embedding}
`;
const chat = (provider: string, more = '') =>
  `chat: {provider: ${provider}, messages: [{role: user, content: hi}]${more}}`;
const files = {
  'all.pipeline.yaml': pipeline(
    `steps: [{id: env, tool: env}, {id: whole, ${chat('main')}}, {id: streamed, ${chat('main', ', stream: windowed')}}, {id: grade, eval: score, content: x, params: {score: 1}}]`,
    'all',
  ),
  'fails.pipeline.yaml': pipeline(`steps: [{id: fails, ${chat('none')}}]`, 'fails'),
  'all.suite.yaml': suite(`cases: [{id: one}]
case: {id: '\${case.id}', content: hi}
evals: [{id: good, type: score, params: {score: 0.5}}, {id: bad, type: broken}]
`),
};

async function post(runtime: Runtime, path: string, body: object, headers = {}): Promise<number> {
  const request = { method: 'POST', body: JSON.stringify(body), headers };
  const response = await runtime.gateway().fetch(new Request(`http://127.0.0.1/v1/${path}`, request));
  await response.text();
  return response.status;
}

async function everything(runtime: Runtime, folder: string): Promise<void> {
  await runtime.run(join(folder, 'all.pipeline.yaml'), {});
  await runtime.run(join(folder, 'fails.pipeline.yaml'), {}).catch(() => {});
  await runtime.evals.run(join(folder, 'all.suite.yaml'));
  for (const tool of ['env', 'fails', 'queued']) await runtime.tools.call(tool, {});
  await Promise.all([1, 2].map(() => runtime.tools.call('lone', {})));
  await runtime.tools.call('unknown', {}).catch(() => {});
  const messages = [{ role: 'user', content: 'hi' }];
  for (const model of ['large', 'broken', 'unknown'])
    for (const stream of [false, true]) await post(runtime, 'chat/completions', { model, messages, stream });
  await post(runtime, 'embeddings', { model: 'embed', input: 'a' });
}

const read = (name: string) =>
  parse(readFileSync(join(import.meta.dirname, 'conventions', `${name}.yaml`), 'utf8'));
interface Rule {
  readonly type?: string;
  readonly name: string;
  readonly kind?: string;
  readonly attributes: readonly { readonly ref: string; readonly requirement_level: string }[];
}
const rules: readonly Rule[] = read('spans').spans;
const [evaluation]: readonly Rule[] = read('events').events;
const types = new Map<string, string | object>(
  read('registry').attributes.map(({ key, type }: { key: string; type: string | object }) => [key, type]),
);
const kinds = ['unspecified', 'internal', 'server', 'client'];
const verbs: Readonly<Record<string, string>> = {
  ...{ chat: 'gen_ai.inference.client', embeddings: 'gen_ai.embeddings.client' },
  ...{ invoke_agent: 'gen_ai.invoke_agent.internal', execute_tool: 'gen_ai.execute_tool.internal' },
};
/** The values of OTLP for a type. The SDK sends a whole number as an integer. */
const values: Readonly<Record<string, readonly string[]>> = {
  ...{ string: ['stringValue'], 'string[]': ['arrayValue'], int: ['intValue'], boolean: ['boolValue'] },
  ...{ double: ['doubleValue', 'intValue'], any: ['stringValue'] },
};

function faultsOf(attributes: readonly Attribute[], rule: Rule | undefined): string[] {
  const has = (name: string) => attributes.some(({ key }) => key === name);
  const missing = (rule?.attributes ?? []).filter(
    (each) => each.requirement_level === 'required' && !has(each.ref),
  );
  const wrong = attributes.filter(({ key, value }) => {
    if (key.startsWith('signalbox.')) return false;
    const type = types.get(key);
    const wanted = typeof type === 'object' ? ['stringValue'] : values[type ?? ''];
    return !wanted?.includes(Object.keys(value)[0] ?? '');
  });
  return [
    ...missing.map(({ ref }) => `lacks ${ref}`),
    ...wrong.map(({ key }) => `${key} is unknown or has another type`),
  ];
}

function checkSpan(span: Exported): string[] {
  const attributes = valuesOf(span);
  const rule = rules.find(({ type }) => type === verbs[String(attributes['gen_ai.operation.name'])]);
  const name = rule?.name.replaceAll(/\{([^}]+)\}/g, (_, key: string) => String(attributes[key] ?? 'other'));
  return [
    ...faultsOf(span.attributes, rule),
    ...(rule === undefined && !span.name.startsWith('signalbox.') ? [`has a name of its own`] : []),
    ...(rule !== undefined && name !== span.name ? [`should be ${name}`] : []),
    ...(rule !== undefined && rule.kind !== kinds[span.kind] ? [`is ${kinds[span.kind]}`] : []),
    ...(span.status.code === 2 && attributes['error.type'] === undefined
      ? ['failed without error.type']
      : []),
    ...(span.events ?? []).flatMap((event) =>
      event.name === evaluation?.name
        ? faultsOf(event.attributes, evaluation)
        : [`has an event ${event.name}`],
    ),
  ].map((fault) => `${span.name} ${fault}`);
}

test.each(['false', 'true'])('every span follows the conventions (content: %s)', async (content) => {
  const { spans } = await exportsOf(
    { spec, files, telemetry: `{metrics: false, content: ${content}}` },
    everything,
  );
  expect(spans.flatMap(checkSpan)).toEqual([]);
  const seen = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)));
  const all = [...Object.values(operationRules), hookRule].flatMap(({ start, end }) => [...start, ...end]);
  const unseen = all.map(({ name }) => name).filter((name) => !seen.has(name));
  // No mock reports cached tokens; no run of this test is continued, and no case has variants.
  expect(unseen).toEqual([
    'signalbox.run.resumed',
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read.input_tokens',
    'signalbox.variant',
  ]);
  expect(
    Object.values(contentNames)
      .filter((name) => seen.has(name))
      .toSorted(),
  ).toEqual(
    content === 'true'
      ? Object.values(contentNames)
          .filter((name) => !name.endsWith('instructions'))
          .toSorted()
      : [],
  );
});

test('every name of the table that is not ours is one of the conventions', () => {
  const rows = [...Object.values(operationRules), hookRule].flatMap(({ start, end }) => [...start, ...end]);
  const names = [...[...rows, ...evaluationRows].map(({ name }) => name), ...Object.values(contentNames)];
  expect(names.filter((name) => !name.startsWith('signalbox.') && !types.has(name))).toEqual([]);
});

test('the spans of a run are those of its parts', async () => {
  const { spans } = await exportsOf({ spec, files }, (runtime, folder) =>
    runtime.run(join(folder, 'all.pipeline.yaml'), {}),
  );
  const hook = (span: Exported) => {
    const { 'signalbox.hook.name': name, 'signalbox.hook.phase': phase } = valuesOf(span);
    return name === undefined ? span.name : `${span.name} ${name} ${phase}`;
  };
  // The others are not waited for.
  const awaited = spans.filter((span) => (valuesOf(span)['signalbox.hook.mode'] ?? 'filter') === 'filter');
  expect(treeOf(awaited, hook)).toEqual([
    'invoke_agent all',
    '  execute_tool env',
    '    signalbox.hook toll before_execution',
    '    signalbox.hook toll after_execution',
    '  chat large',
    '    signalbox.hook reads before_call',
    '  chat large',
    '    signalbox.hook reads before_call',
    '  signalbox.eval',
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
});
