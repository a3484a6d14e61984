import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openRuntime, type RuntimeOptions, type SuiteRunOptions } from '../../src/index.ts';
import { config, folderOf, suite } from '../cli/command-line.ts';
import { type EmbeddingApi, refuse, startEmbeddingApi } from '../models/embedding/embedding-api.ts';

const vectors = { Oslo: [3, 4], Bergen: [4, -3], 'The capital': [4, 3], question: [1, 0], asked: [4, 3] };
let api: EmbeddingApi;
let other: EmbeddingApi;
beforeAll(async () => {
  api = await startEmbeddingApi(vectors);
  other = await startEmbeddingApi({ Oslo: [1, 0, 0], Bergen: [1, 0, 0], 'The capital': [0, 1, 0] });
});
afterAll(async () => {
  await Promise.all([api[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
});
beforeEach(() => {
  for (const each of [api, other]) {
    each.asked.length = 0;
    each.next = [];
  }
});

interface Project {
  readonly provider?: string;
  readonly more?: string;
  readonly runtime?: string;
  readonly answers?: readonly string[];
  readonly spec?: string;
  readonly files?: Readonly<Record<string, string>>;
}

const prices = 'pricing: {input_cost_per_1k: 1}';
const near = '{id: near, type: similarity, params: {expected: The capital}, role: metric}';

function projectOf({ provider = prices, more = '', runtime = '', ...rest }: Project = {}): string {
  const { answers = ['Oslo', 'Bergen', 'Oslo'], spec = `evals: [${near}]`, files = {} } = rest;
  const rows = answers.map((answer, at) => `{id: c${at}, answer: ${JSON.stringify(answer)}}`).join(', ');
  const entry = `id: embed, type: openai-compatible, model: m, base_url: "${api.url}/v1", role: embedding`;
  return folderOf({
    'runtime.yaml': config(
      `concurrency: 2\nproviders:\n  - {${entry}, additional_config: {max_retries: 0}, ${provider}}\n${more}\n${runtime}`,
    ),
    'demo.suite.yaml': suite(
      `runtime: ./runtime.yaml\ncases: [${rows}]\ncase: {id: "\${case.id}", content: "\${case.answer}"}\n${spec}`,
    ),
    ...files,
  });
}

async function runIn(cwd: string, options: SuiteRunOptions = {}, opened: RuntimeOptions = {}) {
  const warnings: string[] = [];
  await using runtime = await openRuntime(join(cwd, 'runtime.yaml'), {
    logLevel: 'silent',
    onEvent: (event) => {
      if (event.type === 'note' && event.level === 'warn') warnings.push(event.message);
    },
    ...opened,
  });
  const report = await runtime.evals.run(join(cwd, 'demo.suite.yaml'), options);
  const records = [];
  for (const { id } of await runtime.evals.runs.list({ limit: 1 })) {
    for await (const record of (await runtime.evals.runs.open(id)).cases()) records.push(record);
  }
  const first = records.map(({ epochs }) => epochs[0]?.results[0]);
  const codes = first.map((each) => each?.error?.code);
  return { report, records, warnings, codes, scores: first.map((each) => each?.score), first };
}

const textsOf = (asked: readonly (readonly string[])[]) => asked.flat().toSorted();

test('each text is embedded once in a run, however many cases contain it [DS-EMBED-07]', async () => {
  const { scores, report, first } = await runIn(projectOf(), { epochs: 3 });
  expect(scores).toEqual([0.96, expect.closeTo(0.28, 10), 0.96]);
  expect(textsOf(api.asked)).toEqual(['Bergen', 'Oslo', 'The capital']);
  expect(report.spending).toEqual({ calls: 3, cached: 0, cost_usd: 0.3 });
  expect(first[0]?.data).toEqual({
    ...{ similarity: 0.96, similarities: [0.96], provider: 'embed', model: 'm' },
  });
});

test('with a cache another run sends no request [DS-EMBED-08]', async () => {
  const cwd = projectOf();
  const cache = join(cwd, 'kept');
  const once = await runIn(cwd, { cache });
  const again = await runIn(cwd, { cache, epochs: 2 });
  expect(textsOf(api.asked)).toEqual(['Bergen', 'Oslo', 'The capital']);
  expect(again.scores).toEqual(once.scores);
  expect(again.report.spending).toEqual({ calls: 3, cached: 3, cost_usd: 0 });
});

test('a text has one vector, whichever epoch requested it', async () => {
  const cwd = projectOf({ answers: ['Oslo'] });
  const cache = join(cwd, 'kept');
  // The first epoch fails, and the second retries.
  api.next = [() => refuse(500)];
  await runIn(cwd, { cache, epochs: 2 });
  const asked = api.asked.length;
  const again = await runIn(cwd, { cache });
  expect({ scores: again.scores, asked: api.asked.length }).toEqual({ scores: [0.96], asked });
});

test('a recording answers without the API, however texts are batched [DS-EMBED-08]', async () => {
  const cwd = projectOf({ answers: Array.from({ length: 40 }, (_, at) => (at % 2 ? 'Oslo' : `text ${at}`)) });
  const file = join(cwd, 'calls.jsonl');
  const recorded = await runIn(cwd, {}, { record: file });
  const asked = api.asked.length;
  const replayed = await runIn(cwd, {}, { replay: file });
  expect(replayed.scores).toEqual(recorded.scores);
  expect(replayed.scores).not.toContain(null);
  expect(api.asked).toHaveLength(asked);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(22);
});

describe('a budget', () => {
  test('counts embeddings, and is never exceeded [DS-EMBED-09]', async () => {
    const answers = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => each.repeat(400));
    const { report } = await runIn(projectOf({ answers }), { maxCostUsd: 0.35 });
    expect(report.status).toBe('error');
    expect(report.not_judged).toBeGreaterThan(0);
    expect(api.asked.flat().length).toBeLessThanOrEqual(4);
  });

  test('needs the price of a provider that embeds', async () => {
    const run = runIn(projectOf({ provider: 'defaults: {}' }), { maxCostUsd: 1 });
    await expect(run).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('"embed"') });
    expect(api.asked).toHaveLength(0);
  });
});

test('a rate limit applies to embeddings [DS-EMBED-09]', async () => {
  const provider = 'rate_limit: {requests_per_minute: 1}, request_timeout: 500ms';
  // Too long for one request.
  const answers = ['x', 'y'].map((each) => each.repeat(150_000));
  const { codes } = await runIn(projectOf({ provider, answers }));
  expect(codes).toContain('PROVIDER_TIMEOUT');
  expect(api.asked).toHaveLength(1);
});

describe('hooks', () => {
  const hook = (code: string) => ({
    runtime: 'hooks: {guard: {hook: provider, phases: [before_call], command: ./guard}}',
    files: { guard: `#!/usr/bin/env python3\nimport json, sys\nevent = json.load(sys.stdin)\n${code}\n` },
  });

  test('receive each text as a user message, and can deny it [DS-EMBED-10]', async () => {
    const denies = hook(
      `texts = [m["content"] for m in event["request"]["messages"]]\nroles = {m["role"] for m in event["request"]["messages"]}\nok = "Bergen" not in texts and roles == {"user"}\nprint(json.dumps({"allow": ok, "reason": "no Bergen"}))`,
    );
    const { codes, scores } = await runIn(projectOf({ ...denies, answers: ['Oslo', 'Bergen'] }));
    expect({ codes, scores }).toEqual({ codes: [undefined, 'DENIED'], scores: [0.96, null] });
    expect(api.asked.flat()).not.toContain('Bergen');
  });

  test.each([
    [
      'change a text',
      `m = event["request"]["messages"]\nfor each in m: each["content"] = "[redacted]"\nprint(json.dumps({"allow": True, "replace": {"messages": m}}))`,
    ],
    [
      'leave one out',
      `print(json.dumps({"allow": True, "replace": {"messages": event["request"]["messages"][:1]}}))`,
    ],
    ['add a system prompt', `print(json.dumps({"allow": True, "replace": {"system_prompt": "Be nice."}}))`],
    [
      'answer instead',
      `print(json.dumps({"allow": False, "enforced": True, "reason": "r", "metadata": {"replacement": "hello"}}))`,
    ],
    ['say nothing', 'sys.exit(3)'],
  ])('that %s leave it unscored, and nothing is sent [DS-EMBED-10]', async (_what, code) => {
    const { codes, scores } = await runIn(projectOf({ ...hook(code), answers: ['Oslo'] }));
    expect(scores).toEqual([null]);
    expect(['DENIED', 'REPLY_MALFORMED']).toContain(codes[0]);
    expect(api.asked).toHaveLength(0);
  });
});

test('a fallback embeds all texts of a check, and none is compared with those of another model [DS-EMBED-11]', async () => {
  const more = `  - {id: spare, type: openai-compatible, model: s, base_url: "${other.url}/v1", role: embedding}`;
  api.next = [() => refuse(503), () => refuse(503), () => refuse(503)];
  const project = projectOf({ provider: 'fallback: [spare]', more, answers: ['Oslo'] });
  const { first, warnings } = await runIn(project);
  expect(first[0]).toMatchObject({ score: 0, data: { provider: 'spare', model: 's' } });
  expect(textsOf(other.asked)).toEqual(['Oslo', 'The capital']);
  expect(warnings.join()).toContain('"spare" is called instead');
});

test.each([
  ['is down', () => refuse(500), 'PROVIDER_FAILED'],
  ['has no vector', () => ({ data: [] }), 'PROVIDER_FAILED'],
] as const)(
  'an API that %s leaves a case unscored, which passes no max_score [DS-EMBED-12]',
  async (_what, next, code) => {
    api.next = [next, next, next, next];
    const spec =
      'evals: [{id: near, type: similarity, params: {expected: The capital}, threshold: {max_score: 1}}]';
    const { codes, report } = await runIn(projectOf({ spec, answers: ['Oslo'] }));
    expect({ codes, status: report.status }).toEqual({ codes: [code], status: 'error' });
  },
);

test('a tool embeds with its hooks; a failure, a denial or missing vectors leave cases unscored [DS-EMBED-13]', async () => {
  const tool = (body: string) =>
    `#!/usr/bin/env python3\nimport json, sys\ntexts = json.load(sys.stdin)["args"]["texts"]\n${body}\n`;
  const answering = (runtime = '') => ({
    runtime: `tools:\n  lengths: {description: d, input_schema: {type: object}, exec: {command: ./lengths}}\n${runtime}`,
    more: '  - {id: local, type: tool, model: lengths, role: embedding}',
    spec: `max_cost: {total: 0}\nevals: [{id: near, type: similarity, params: {expected: The capital, provider: local}, role: metric}]`,
    answers: ['Oslo'],
  });
  const good = tool('print(json.dumps({"result": {"embeddings": [[len(t), 1] for t in texts]}}))');
  const cosine = (4 * 11 + 1) / Math.hypot(4, 1) / Math.hypot(11, 1);
  const scored = await runIn(projectOf({ ...answering(), files: { lengths: good } }));
  expect(scored.scores).toEqual([expect.closeTo(cosine, 10)]);
  expect(scored.report.spending).toMatchObject({ cost_usd: 0 });
  const deny = 'hooks: {no: {hook: tool, phases: [before_execution], command: ./no}}';
  const no = '#!/bin/sh\necho \'{"allow": false, "reason": "no"}\'\n';
  const outcomes = [];
  for (const [runtime, lengths] of [
    ['', tool('print(json.dumps({"result": {"embeddings": [[1]]}}))')],
    ['', tool('print(json.dumps({"result": [1, 2]}))')],
    ['', tool('sys.exit(3)')],
    ['', tool('print(json.dumps({"pending": {"reason": "r", "message": "m"}}))')],
    [deny, good],
  ] as const) {
    const { codes, scores } = await runIn(projectOf({ ...answering(runtime), files: { lengths, no } }));
    outcomes.push([codes[0], scores[0]]);
  }
  expect(outcomes).toEqual([
    ['PROVIDER_FAILED', null],
    ['PROVIDER_FAILED', null],
    ['PROVIDER_FAILED', null],
    ['PENDING_EXPIRED', null],
    ['DENIED', null],
  ]);
});
