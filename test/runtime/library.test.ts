import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { Json, loadResults, openRuntime, RuntimeError, stringifyJson } from '../../src/index.ts';
import { titled } from '../cite.ts';
import { onlyDocument, run } from '../cli/command-line.ts';
import { faultOf } from '../process/harness.ts';
import { open, write } from './open.ts';

const long = '12345678901234567890';

const spec = `
tools:
  echo: {description: Says it again., exec: {command: $bin/echo-args}}
  stdin: {exec: {command: $bin/print-stdin}}
  lost: {exec: {command: $bin/error-text.sh}}
  refund: {exec: {command: $bin/pending.sh}}
  server: {exec: {command: $bin/server, args: [echo], runtime: server}}
  bare: {description: nothing}
evals:
  score: {command: $bin/eval-score}
hooks:
  note: {command: $bin/allow-metadata.sh, args: [id, '${long}'], hook: tool, phases: [before_execution]}
  never: {command: $bin/deny.sh, hook: provider, phases: [before_call]}
  mark: {command: $bin/modify-after-call, hook: provider, phases: [after_call]}
`;

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one, score: 1}, {id: two, score: 0.5}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: score, params: {score: "\${case.score}"}}]
`;

test('a runtime lists what its file declares [DS-LIB-01]', async () => {
  const file = write(spec);
  await using runtime = await openRuntime(file, { log: false });
  expect({ file: runtime.file, name: runtime.name, evals: runtime.evals.list() }).toEqual({
    file,
    name: 'desk',
    evals: ['score'],
  });
  expect(runtime.tools.list()[0]).toEqual({
    name: 'echo',
    description: 'Says it again.',
    runtime: 'exec',
    dialect: 'promptkit',
    input_schema: null,
    output_schema: null,
    title: null,
    annotations: {},
    approval: null,
    mcp: { result: null, task: null },
  });
  expect(runtime.tools.list().map(({ name, runtime: kind }) => `${name} ${kind}`)).toEqual([
    'echo exec',
    'stdin exec',
    'lost exec',
    'refund exec',
    'server server',
    'bare none',
  ]);
  const filter = { mode: 'filter', dialect: 'promptkit', points: [], on_failure: 'deny' };
  const at = (line: number) => ({ file: runtime.file, line, column: expect.any(Number) });
  expect(runtime.hooks.list()).toEqual([
    { ...filter, name: 'note', hook: 'tool', phases: ['before_execution'], source: at(16) },
    { ...filter, name: 'never', hook: 'provider', phases: ['before_call'], source: at(17) },
    { ...filter, name: 'mark', hook: 'provider', phases: ['after_call'], source: at(18) },
  ]);
});

test('its calls return the documents as values [DS-LIB-01]', async () => {
  const { runtime } = await open(spec);
  const metadata = { id: Number(long) };
  expect(await runtime.tools.call('echo', { city: 'Oslo' })).toEqual({
    status: 'ok',
    result: { city: 'Oslo' },
    metadata,
  });
  expect(await runtime.tools.call('lost')).toEqual({
    status: 'failed',
    error: {
      code: 'TOOL_ERROR',
      message: 'city not found',
      hint: 'The message comes from the tool: correct the tool or its input.',
    },
    metadata,
  });
  expect(await runtime.evals.call('score', { content: '', params: { score: 0.5, detail: 'half' } })).toEqual({
    status: 'scored',
    score: 0.5,
    passed: false,
    detail: 'half',
    data: null,
  });
  expect(await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request: {} })).toEqual({
    verdict: 'deny',
    hook: 'never',
    dialect: 'promptkit',
    reason: 'not today',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: { rule: 'weekday' },
  });
});

const same = [
  {
    title: 'a tool that answers',
    args: ['tool', 'call', 'echo', '--args', `{"id": ${long}}`],
    call: ({ tools }: Runtime) => tools.call('echo', `{"id": ${long}}`),
  },
  {
    title: 'a tool that fails',
    args: ['tool', 'call', 'lost'],
    call: ({ tools }: Runtime) => tools.call('lost'),
  },
  {
    title: 'an eval',
    args: ['eval', 'call', 'score', '--content', 'x', '--params', `{"score": 1, "data": {"id": ${long}}}`],
    call: ({ evals }: Runtime) =>
      evals.call('score', { content: 'x', params: new Json(`{"score":1,"data":{"id":${long}}}`) }),
  },
  {
    title: 'a filter that modifies, but for who was asked,',
    args: [
      'hook',
      'fire',
      '--hook',
      'provider',
      '--phase',
      'after_call',
      '--event',
      '{"request": {}, "response": {"message": {"role": "assistant", "content": "hi"}}}',
    ],
    call: ({ hooks }: Runtime) =>
      hooks.fire({
        hook: 'provider',
        phase: 'after_call',
        request: {},
        response: { message: { role: 'assistant', content: 'hi' } },
      }),
  },
];

type Runtime = Awaited<ReturnType<typeof openRuntime>>;

test.concurrent.for(same)(
  'the document of $title equals that of the command line, byte for byte',
  async ({ args, call }, { expect }) => {
    const file = write(spec);
    await using runtime = await openRuntime(file, { log: false });
    const { stdout } = await run([...args, '--json'], { cwd: dirname(file) });
    const asked = ',"asked":["mark"]}\n';
    const printed = stdout.endsWith(asked) ? `${stdout.slice(0, -asked.length)}}\n` : stdout;
    expect(`${stringifyJson(await call(runtime))}\n`).toBe(printed);
  },
);

test('the report of a suite equals that of the command line, except its id and its duration', async () => {
  const file = write(spec, { 'demo.suite.yaml': suite });
  await using runtime = await openRuntime(file, { log: false });
  const results: string[] = [];
  const progress: number[] = [];
  const report = await runtime.evals.run(join(dirname(file), 'demo.suite.yaml'), {
    onProgress: ({ cases }, record) => {
      progress.push(cases);
      results.push(`${record?.id} ${record?.passed}`);
    },
  });
  const { stdout } = await run(['eval', 'run', 'demo.suite.yaml', '--json'], { cwd: dirname(file) });
  const its = { run_id: expect.any(String), duration_ms: expect.any(Number) };
  const { toReportDocument } = await loadResults();
  const [latency_ms, queue_ms] = [expect.any(Object), expect.any(Object)];
  expect(onlyDocument(stdout)).toMatchObject({
    ...toReportDocument(report),
    ...its,
    evals: Object.fromEntries(
      Object.entries(report.evals).map(([id, stats]) => [id, { ...stats, latency_ms, queue_ms }]),
    ),
  });
  expect(report.status).toBe('failed');
  expect(results).toEqual(['one true', 'two false']);
  expect(progress).toEqual([1, 2]);
});

const args = [
  { title: 'an object', args: { id: 1, text: 'ä' }, sent: '{"id":1,"text":"ä"}' },
  { title: 'text, whose bytes are kept', args: `{ "id": ${long} }`, sent: `{ "id": ${long} }` },
  { title: 'Json, whose bytes are kept', args: new Json(`{ "id": ${long} }`), sent: `{ "id": ${long} }` },
  { title: 'an object with a bigint', args: { id: BigInt(long) }, sent: `{"id":${long}}` },
  { title: 'nothing', args: undefined, sent: '{}' },
  { title: 'null', args: null, sent: '{}' },
  { title: 'blank text', args: ' ', sent: '{}' },
];

test('args may be an object, its text, or nothing', async () => {
  const { runtime } = await open(spec);
  const documents = await Promise.all(args.map((row) => runtime.tools.call('stdin', row.args)));
  expect(documents.map((document, index) => ({ title: args[index]?.title, document }))).toEqual(
    args.map(({ title, sent }) => ({
      title,
      document: { status: 'ok', result: `{"args":${sent}}\n`, metadata: { id: Number(long) } },
    })),
  );
});

test('args that are no object fail the call', async () => {
  const { runtime } = await open(spec);
  const documents = await Promise.all(['{', '[]', 5, [1]].map((value) => runtime.tools.call('echo', value)));
  const failure = { status: 'failed', error: expect.objectContaining({ code: 'ARGS_INVALID' }) };
  expect(documents).toEqual([failure, failure, failure, failure]);
});

test('long integers of a document are exact in its text, and approximate as values', async () => {
  const { runtime } = await open(spec);
  const document = await runtime.tools.call('server', `{"id":${long}}`);
  expect(document).toEqual({ status: 'ok', result: { id: Number(long) }, metadata: { id: Number(long) } });
  const text = `{"status":"ok","result":{"id":${long}},"metadata":{"id":${long}}}`;
  expect(stringifyJson(document)).toBe(text);
});

const approval = { id: 'a-1', decision: 'approved', by: 'ada', reason: 'small sum' } as const;

test('a pending call waits, or continues with the decision of `approve` [DS-LIB-01]', async () => {
  const { runtime } = await open(spec);
  expect(await runtime.tools.call('refund', { sum: 250 })).toEqual({
    status: 'pending',
    pending: {
      id: expect.stringMatching(/^pending_/),
      run_id: expect.stringMatching(/^run_/),
      reason: 'requires_approval',
      message: 'Refund 250 EUR?',
    },
  });
  const asked: unknown[] = [];
  const approved = await runtime.tools.call(
    'refund',
    { sum: 250 },
    {
      callId: 'call-7',
      approve: async (pause) => {
        asked.push(pause);
        return approval;
      },
    },
  );
  expect(asked).toEqual([
    {
      id: expect.stringMatching(/^pending_/),
      tool: 'refund',
      callId: 'call-7',
      reason: 'requires_approval',
      message: 'Refund 250 EUR?',
    },
  ]);
  expect(approved).toMatchObject({ status: 'ok', result: { args: { sum: 250 }, approval } });
  const silent = await runtime.tools.call('refund', { sum: 250 }, { approve: async () => undefined });
  expect(silent.status).toBe('pending');
});

const unknown = titled([
  {
    title: 'a tool',
    cites: 'DS-OUT-03',
    call: ({ tools }: Runtime) => tools.call('ehco'),
    message: 'there is no tool "ehco"',
  },
  {
    title: 'an eval',
    cites: 'DS-OUT-03',
    call: ({ evals }: Runtime) => evals.call('scroe', { content: '' }),
    message: 'there is no eval "scroe"',
  },
]);

test.each(unknown)('$title that is not declared is NAME_UNKNOWN', async ({ call, message }) => {
  const { runtime } = await open(spec);
  const fault = await faultOf(call(runtime));
  expect({ code: fault.code, message: fault.message, hint: fault.hint }).toEqual({
    code: 'NAME_UNKNOWN',
    message,
    hint: expect.stringMatching(/^did you mean/),
  });
});

test('an event of the wrong shape is EVENT_INVALID [DS-OUT-04]', async () => {
  const { runtime } = await open(spec);
  const faults = await Promise.all([
    faultOf(runtime.hooks.fire({ hook: 'provider', phase: 'before_execution', request: {} })),
    faultOf(runtime.hooks.fire({ hook: 'provider', phase: 'after_call', request: {} })),
    faultOf(runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request: [] })),
  ]);
  expect(faults.map(({ code }) => code)).toEqual(['EVENT_INVALID', 'EVENT_INVALID', 'EVENT_INVALID']);
});

test('a file with problems is CONFIG_INVALID, with all of them', async () => {
  const file = write('tools: {a: {exec: {comand: sh}}}\nfrob: 1\n');
  const fault = await faultOf(openRuntime(file, { log: false }));
  expect(fault).toBeInstanceOf(RuntimeError);
  expect({ code: fault.code, details: fault.details }).toEqual({
    code: 'CONFIG_INVALID',
    details: {
      problems: [
        expect.objectContaining({ file, line: 5, column: 22, severity: 'error' }),
        expect.objectContaining({ file, line: 6, column: 3, severity: 'error' }),
      ],
    },
  });
});

test('a missing file is FILE_UNREADABLE', async () => {
  const fault = await faultOf(openRuntime('nowhere.yaml', { log: false }));
  expect({ code: fault.code, message: fault.message }).toEqual({
    code: 'FILE_UNREADABLE',
    message: 'nowhere.yaml does not exist',
  });
});

test('a file may be given as a URL', async () => {
  const file = write(spec);
  await using runtime = await openRuntime(pathToFileURL(file), { log: false });
  expect(runtime.file).toBe(file);
});

test('a suite may be given as a URL, whatever its name', async () => {
  const name = 'a demo.suite.yaml';
  const evals = 'evals: [{id: e, type: contains, params: {patterns: [x]}}]';
  const suite = `apiVersion: signalbox/v1\nkind: EvalSuite\nspec: {cases: [{content: x}], ${evals}}\n`;
  const file = write(spec, { [name]: suite });
  await using runtime = await openRuntime(file, { log: false });
  const url = pathToFileURL(join(dirname(file), name));
  expect(await runtime.evals.run(url, { keep: false })).toMatchObject({ status: 'passed', cases: 1 });
});

test('`env` replaces the environment of the host', async () => {
  const printEnv = 'tools: {env: {exec: {command: $bin/print-env, env: [REGION]}}}\n';
  const { PATH = '' } = process.env;
  const { runtime } = await open(printEnv, { env: { PATH, REGION: 'north', OTHER: 'hidden' } });
  const document = await runtime.tools.call('env');
  expect(document).toEqual({
    status: 'ok',
    result: expect.objectContaining({ REGION: 'north', PATH }),
  });
  expect(JSON.stringify(document)).not.toContain('hidden');
  expect(document).not.toHaveProperty('result.HOME');
});
