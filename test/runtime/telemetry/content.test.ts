import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Runtime } from '../../../src/index.ts';
import { pipeline, suite } from '../../workspace.ts';
import { open } from '../open.ts';
import { type Exported, exportsOf, valuesOf } from './exported.ts';

/** Values of the environment, and credentials that only their form betrays. */
const known = [
  'seeded-alphanumeric-7f3a9c',
  'sëcret with späces and ünicode',
  'quotes"and\\backslashes/and\'more',
  '482915736401',
  '{"key":"json-in-the-secret"}',
  'line one of it\nline two of it',
  'trailing-dollar$(echo)%41%42',
];
const formed = [
  ['Authorization: Bearer ', 'abcdefghijklmnop0123456789'],
  ['password=', 'hunter2-hunter2-hunter2'],
  ['https://user:', 'pass-in-an-address', '@example.com/'],
  ['api_key: ', 'sk-0123456789abcdefghij'],
  ['', 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'],
  ['', `sbx_${'0aZ'.repeat(16)}`],
  ['', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N'],
  [
    '-----BEGIN PRIVATE KEY-----\n',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7',
    '\n-----END PRIVATE KEY-----',
  ],
] as const;
const env = Object.fromEntries(known.map((value, index) => [`SEED_${index}`, value]));
const seeds = [...known, ...formed.map(([before, value, after = '']) => `${before}${value}${after}`)];
const secrets = [...known, ...formed.map(([, value]) => value)];
const names = Object.keys(env).join(', ');

const spec = `
tools:
  echo: {exec: {command: $bin/echo-args, env: [${names}]}}
  leaks: {exec: {command: $folder/leaks.sh, env: [${names}]}}
  breaks: {exec: {command: $folder/breaks.sh, env: [${names}]}}
hooks:
  denies: {command: $folder/denies.sh, env: [${names}], hook: tool, phases: [before_execution], match: {tools: [leaks]}, mode: shadow}
  reasons: {command: $folder/denies.sh, env: [${names}], hook: provider, phases: [after_call], mode: shadow}
evals: {breaks: {command: $folder/breaks.sh, env: [${names}]}}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: "\${messages[0].content}", repeat: true}]}}]
`;
const files = {
  'leaks.sh':
    '#!/bin/sh\ncat >/dev/null; printf \'{"result": {"n": %s, "text": "%s"}}\' "$SEED_3" "$SEED_0"\n',
  'breaks.sh':
    '#!/bin/sh\ncat >/dev/null; echo "$SEED_0 $SEED_1 $SEED_3 password=hunter2-hunter2-hunter2" >&2; exit 3\n',
  'denies.sh':
    '#!/bin/sh\ncat >/dev/null; echo "{\\"allow\\": false, \\"reason\\": \\"$SEED_0 $SEED_1 $SEED_3\\"}"\n',
  'chat.pipeline.yaml': pipeline(
    "steps: [{id: answer, chat: {provider: main, system: '${args.text}', messages: [{role: user, content: '${args.text}'}]}}]\nargs: {type: object}",
    'chat',
  ),
  'seeds.suite.yaml': suite(`cases: [{id: '${known[0]}'}]
case: {id: '\${case.id}', content: '\${case.id}'}
evals: [{id: '${known[0]}', type: breaks}]
`),
};

async function actWith(seed: string, runtime: Runtime): Promise<void> {
  const trace = { traceparent: `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`, tracestate: `vendor=${known[0]}` };
  const text = `visible ${seed} visible`;
  await runtime.tools.call('echo', { text, [seed]: [seed, { deep: text }], password: seed }, { trace });
  await runtime.tools.call('leaks', { n: 482915736401 });
  await runtime.tools.call('breaks', { text });
  await runtime.tools.call(seed, {}).catch(() => {});
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
  for (const model of ['m', seed]) {
    const request = { method: 'POST', body: body.replace('"m"', JSON.stringify(model)) };
    await (
      await runtime.gateway().fetch(new Request('http://127.0.0.1/v1/chat/completions', request))
    ).text();
  }
}

/** As they would stand in JSON, in a URL and in base64. */
function formsOf(secret: string): readonly string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    secret,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    bytes.toString('base64'),
    encodeURIComponent(secret),
  ];
}

test('no seeded secret is in a label', async () => {
  const [seed = ''] = known;
  const text = `
telemetry: {traces: false}
tools: {${seed}: {exec: {command: $bin/echo-args, env: [${names}]}}}
hooks: {'${seed} hook': {command: $bin/deny.sh, hook: tool, phases: [before_execution], mode: shadow}}
evals: {breaks: {command: $folder/breaks.sh, env: [${names}]}}
providers: [{id: main, type: mock, model: '${seed}', additional_config: {responses: [{text: hi, repeat: true}]}}]
`;
  const { runtime, folder } = await open(
    text,
    { ownsTelemetry: true, env },
    {
      ...files,
      'chat.pipeline.yaml': pipeline(`steps: [{id: answer, tool: '${seed}'}]`, seed),
    },
  );
  await runtime.run(join(folder, 'chat.pipeline.yaml'));
  await runtime.evals.run(join(folder, 'seeds.suite.yaml'));
  const body = JSON.stringify({ model: seed, messages: [{ role: 'user', content: 'hi' }] });
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
  await (await runtime.gateway().fetch(request)).text();
  const scrape = (await runtime.telemetry.metrics?.())?.text ?? '';
  await runtime.close();
  expect(known.flatMap(formsOf).filter((form) => scrape.includes(form))).toEqual([]);
  expect(scrape).toContain('gen_ai_tool_name="[redacted]"');
});

test.each(['true', 'false'])('no seeded secret is in an exported byte (content: %s)', async (content) => {
  const traced = { spec, files, env, telemetry: `{metrics: false, content: ${content}}` };
  const { bytes, spans } = await exportsOf(traced, async (runtime, folder) => {
    for (const seed of seeds) await actWith(seed, runtime);
    for (const text of seeds) await runtime.run(join(folder, 'chat.pipeline.yaml'), { text }).catch(() => {});
    await runtime.evals.run(join(folder, 'seeds.suite.yaml'));
  });
  expect(secrets.flatMap(formsOf).filter((form) => bytes.includes(form))).toEqual([]);
  expect(spans.length).toBeGreaterThan(60);
  expect(bytes.includes('visible')).toBe(content === 'true');
});

const gated = (hooks: string) => `
tools: {echo: {exec: {command: $bin/echo-args}}}
hooks: {${hooks}}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: ANSWER, repeat: true}]}}]
`;
const hook = (command: string, kind: string, phase: string) =>
  gated(`one: {command: $bin/${command}, hook: ${kind}, phases: [${phase}]}`);

async function contentOf(spec: string, act: (runtime: Runtime) => Promise<unknown>): Promise<object> {
  const { spans } = await exportsOf({ spec, telemetry: '{metrics: false, content: true}' }, act);
  const [operation] = spans.filter(({ name }) => !name.startsWith('signalbox.'));
  return Object.fromEntries(
    Object.entries(valuesOf(operation as Exported)).filter(([name]) =>
      /messages|instructions|arguments|call\.result/.test(name),
    ),
  );
}

const callEcho = (runtime: Runtime) => runtime.tools.call('echo', { text: 'ASKED' });
const args = { 'gen_ai.tool.call.arguments': '{"text":"ASKED"}' };

test.each([
  ['nothing of a denied call', hook('deny.sh', 'tool', 'before_execution'), {}],
  ['no denied result', hook('deny.sh', 'tool', 'after_execution'), args],
  [
    'the changed arguments',
    hook('modify-before-execution', 'tool', 'before_execution'),
    {
      'gen_ai.tool.call.arguments': '{"text": "ASKED", "note": "[modified]"}',
      'gen_ai.tool.call.result': '{"text": "ASKED", "note": "[modified]"}',
    },
  ],
  [
    'the changed result',
    hook('modify-after-execution', 'tool', 'after_execution'),
    { ...args, 'gen_ai.tool.call.result': '"{\\"text\\":\\"ASKED\\"} [modified]"' },
  ],
])('the content of a tool call has %s', async (_, spec, expected) => {
  expect(await contentOf(spec, callEcho)).toEqual(expected);
});

const ask = async (runtime: Runtime) => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'ASKED' }] });
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
  await (await runtime.gateway().fetch(request)).text();
};
const asked = (content: string) => JSON.stringify([{ role: 'user', parts: [{ type: 'text', content }] }]);
const answered = (content: string) =>
  JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' }]);
const system = JSON.stringify([{ type: 'text', content: '[modified]' }]);

test.each([
  ['nothing of a denied request', hook('deny.sh', 'provider', 'before_call'), {}],
  [
    'no denied answer',
    hook('deny.sh', 'provider', 'after_call'),
    { 'gen_ai.input.messages': asked('ASKED') },
  ],
  [
    'the changed request',
    hook('modify-before-call', 'provider', 'before_call'),
    {
      'gen_ai.system_instructions': system,
      'gen_ai.input.messages': asked('ASKED [modified]'),
      'gen_ai.output.messages': answered('ANSWER'),
    },
  ],
  [
    'the changed answer',
    hook('modify-after-call', 'provider', 'after_call'),
    { 'gen_ai.input.messages': asked('ASKED'), 'gen_ai.output.messages': answered('ANSWER [modified]') },
  ],
])('the content of a request has %s', async (_, spec, expected) => {
  expect(await contentOf(spec, ask)).toEqual(expected);
});

test('the content of a request has no answer that waits for a person', async () => {
  const call = 'tool_calls: [{name: pay, args: {amount: 250}}]';
  const waiting = `
tools: {pay: {input_schema: {type: object}, approval: {}}}
state_store: {type: sqlite, path: $folder/state.db}
providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: ANSWER, ${call}}]}}]
gateway: {tools: {hooks: true, pending: refuse}}
`;
  expect(await contentOf(waiting, ask)).toEqual({ 'gen_ai.input.messages': asked('ASKED') });
});

test('spans with long content come in requests that collectors take', async () => {
  const traced = { spec: gated(''), telemetry: '{metrics: false, content: true}' };
  const long = 'x'.repeat(60_000);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: long }] });
  const { spans, bytes } = await exportsOf(traced, async (runtime) => {
    for (let count = 0; count < 60; count++) {
      const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body });
      await (await runtime.gateway().fetch(request)).text();
    }
  });
  expect(spans.length).toBe(60);
  expect(Math.max(...bytes.split('\n').map(({ length }) => length))).toBeLessThan(2 * 1024 * 1024);
});

test('names that the conventions have not settled need an opt-in', async () => {
  const guardrailsOf = async (env: Readonly<Record<string, string>>) => {
    const { spans } = await exportsOf({ spec: hook('deny.sh', 'tool', 'before_execution'), env }, callEcho);
    const values = spans.flatMap((span) => Object.entries(valuesOf(span)));
    return Object.fromEntries(values.filter(([name]) => name.startsWith('gen_ai.guardrail.')));
  };
  expect(await guardrailsOf({})).toEqual({});
  expect(await guardrailsOf({ OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental' })).toEqual({
    'gen_ai.guardrail.component.name': 'one',
    'gen_ai.guardrail.target.type': 'input',
    'gen_ai.guardrail.verdict.type': 'deny',
    'gen_ai.guardrail.action.type': 'block',
  });
});
