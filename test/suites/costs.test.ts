import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRuntime, type SuiteRunOptions } from '../../src/index.ts';
import { config, folderOf, suite } from '../cli/command-line.ts';
import { startUpstream, type UpstreamServer } from '../gateway/upstream-server.ts';

let server: UpstreamServer;
let answer: {
  readonly status?: number;
  readonly finish?: string;
  readonly text?: string;
  readonly cut?: true;
} = {};
let delayMs = 0;

beforeAll(async () => {
  server = await startUpstream(async ({ body }, response) => {
    const { status = 200, finish = 'stop', text = `answer ${server.seen.length}`, cut } = answer;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
    const about = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
    if (status !== 200) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{"error": {"message": "no"}}');
    } else if (JSON.parse(body).stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, end: string | null) =>
        `data: ${JSON.stringify({ ...about, choices: [{ index: 0, delta, finish_reason: end }], ...(end && { usage }) })}\n\n`;
      response.write(chunk({ role: 'assistant', content: text }, null));
      if (cut) response.destroy();
      else response.end(`${chunk({}, finish)}data: [DONE]\n\n`);
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }];
      response.end(JSON.stringify({ ...about, choices, usage }));
    }
  });
});
afterAll(async () => await server[Symbol.asyncDispose]());

/** A call costs 0.1 USD, 100 tokens in and 100 out. Its estimate is slightly higher. */
const priced = 'pricing: {input_cost_per_1k: 0.5, output_cost_per_1k: 0.5}, defaults: {max_tokens: 180}';

interface Project {
  readonly provider?: string;
  readonly runtime?: string;
  readonly spec?: string;
  readonly cases?: number;
  readonly subject?: string;
}

function projectOf({
  provider = priced,
  runtime = '',
  spec = '',
  cases = 4,
  subject = '',
}: Project = {}): string {
  const rows = Array.from({ length: cases }, (_, at) => `{id: c${at}, q: "question ${at}"}`).join(', ');
  return folderOf({
    'runtime.yaml': config(
      `concurrency: 2\nproviders: [{id: main, type: openai-compatible, model: m, base_url: "${server.url}/v1", additional_config: {max_retries: 0}, ${provider}}]\n${runtime}`,
    ),
    'demo.suite.yaml': suite(
      `runtime: ./runtime.yaml\ncases: [${rows}]\ncase: {id: "\${case.id}"}\nsubject: {chat: {provider: main, messages: "\${case.q}"${subject}}}\nevals: [{id: long, type: min_length, params: {min: 1}}]\n${spec}`,
    ),
  });
}

async function runIn(cwd: string, options: SuiteRunOptions = {}) {
  const before = server.seen.length;
  const notes: string[] = [];
  await using runtime = await openRuntime(join(cwd, 'runtime.yaml'), {
    logLevel: 'silent',
    onEvent: (event) => {
      if (event.type === 'note' && event.name === 'cache') notes.push(event.message);
    },
  });
  const report = await runtime.evals.run(join(cwd, 'demo.suite.yaml'), options);
  const records = [];
  for (const { id } of await runtime.evals.runs.list({ limit: 1 })) {
    for await (const record of (await runtime.evals.runs.open(id)).cases()) records.push(record);
  }
  return { report, records, notes, asked: server.seen.length - before };
}

test('a run stays within its budget, reports what it skipped, and continues with more [DS-COST-01 DS-COST-03]', async () => {
  const cwd = projectOf({ cases: 10 });
  delayMs = 20;
  const first = await runIn(cwd, { maxCostUsd: 0.35 });
  delayMs = 0;
  // Three fit; a fourth begins alone while 0.05 are left.
  expect({ asked: first.asked, ...first.report }).toMatchObject({
    ...{ asked: 4, status: 'error', cases: 4, not_judged: 6 },
    spending: { calls: 4, cached: 0, cost_usd: 0.4 },
    problems: [{ scope: 'run', message: 'the budget is spent ($0.40 in all): 6 cases not judged' }],
  });
  expect(first.records.map(({ results }) => results[0]?.passed)).toEqual([true, true, true, true]);
  const again = await runIn(cwd, { maxCostUsd: 0.4, resume: true });
  expect({ asked: again.asked, ...again.report }).toMatchObject({ asked: 0, status: 'error', not_judged: 6 });
  const rest = await runIn(cwd, { maxCostUsd: 5, resume: true });
  expect({ asked: rest.asked, ...rest.report }).toMatchObject({
    ...{ asked: 6, status: 'passed', cases: 10 },
    spending: { calls: 10, cached: 0, cost_usd: 1 },
  });
  expect(rest.report.not_judged).toBeUndefined();
});

test.each([
  ['--max-cost', {}, { maxCostUsd: 1 }],
  ['max_cost.total', { spec: 'max_cost: {total: 1}\n' }, {}],
  ['max_cost.case', { spec: 'max_cost: {case: 1}\n' }, {}],
])('%s without prices is refused before the first call [DS-COST-02]', async (_name, project, options) => {
  const before = server.seen.length;
  const run = runIn(projectOf({ ...project, provider: 'defaults: {}' }), options);
  await expect(run).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('"main"') });
  expect(server.seen).toHaveLength(before);
});

test('a budget of zero judges nothing, but allows every call to a free provider', async () => {
  const nothing = await runIn(projectOf(), { maxCostUsd: 0 });
  expect({ asked: nothing.asked, ...nothing.report }).toMatchObject({
    asked: 0,
    status: 'error',
    not_judged: 4,
  });
  const free = projectOf({ provider: 'pricing: {input_cost_per_1k: 0, output_cost_per_1k: 0}' });
  expect((await runIn(free, { maxCostUsd: 0 })).report.status).toBe('passed');
});

test('a case’s limit includes its judges; a case beyond it is unscored, and the others continue [DS-COST-04]', async () => {
  const cwd = projectOf({ spec: 'max_cost: {case: 0.15}\n' });
  const file = join(cwd, 'demo.suite.yaml');
  const judges = ['a', 'b'].map((id) => `{id: ${id}, type: llm_judge, params: {criteria: ${id}}}`).join(', ');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('params: {min: 1}}]', `params: {min: 1}}, ${judges}]`),
  );
  answer = { text: '{"score": 1, "reasoning": "good"}' };
  const { report, records, asked } = await runIn(cwd);
  answer = {};
  // The answer, and one judge while 0.05 are left.
  expect({ asked, status: report.status, cases: report.cases, calls: report.spending?.calls }).toEqual({
    ...{ asked: 8, status: 'failed', cases: 4, calls: 8 },
  });
  const codes = records.map(({ epochs }) => epochs[0]?.results.flatMap(({ error }) => error?.code ?? []));
  expect(codes).toEqual(Array.from({ length: 4 }, () => ['BUDGET_EXCEEDED']));
});

const baseline = () => projectOf({ cases: 2, subject: ', system: "Be brief."' });
type Edit = readonly [file: 'demo.suite.yaml' | 'runtime.yaml', from: string, to: string];

/** The number of calls of a run that shares the cache with an earlier run of the baseline. */
async function askedAfterwards(edit?: Edit, options: SuiteRunOptions = {}): Promise<number> {
  const cwd = baseline();
  const cache = join(cwd, 'kept');
  expect((await runIn(cwd, { cache })).asked).toBe(2);
  // A project of its own, because this project's store has the subject's whole answers.
  const other = baseline();
  if (edit !== undefined) {
    const [file, from, to] = edit;
    const text = readFileSync(join(other, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(other, file), text.replace(from, to));
  }
  return (await runIn(other, { cache, ...options })).asked;
}

test.each<[string, number, Edit | undefined, SuiteRunOptions?]>([
  ['nothing', 0, undefined],
  ['a price', 0, ['runtime.yaml', '0.5', '0.6']],
  ['the key', 0, ['runtime.yaml', 'model: m,', 'model: m, credential: {api_key: sk-123456789},']],
  ['a message of one case', 1, ['demo.suite.yaml', 'question 0', 'question zero']],
  ['the system prompt', 2, ['demo.suite.yaml', 'Be brief.', 'Be brief!']],
  ['the model', 2, ['runtime.yaml', 'model: m,', 'model: m2,']],
  ['a parameter', 2, ['runtime.yaml', 'max_tokens: 180', 'max_tokens: 181']],
  ['another parameter', 2, ['runtime.yaml', 'max_tokens: 180', 'max_tokens: 180, temperature: 0.3']],
  ['the address', 2, ['runtime.yaml', '/v1"', '/v2"']],
  ['a setting of the API', 2, ['runtime.yaml', 'max_retries: 0', 'max_retries: 1']],
  ['a second epoch of each case', 2, undefined, { epochs: 2 }],
])('after a change of %s %i of two calls are made [DS-COST-05]', async (_what, asked, edit, options) => {
  expect(await askedAfterwards(edit, options)).toBe(asked);
});

test('cached answers cost nothing, and are reported', async () => {
  const [cwd, other] = [baseline(), baseline()];
  const cache = join(cwd, 'kept');
  await runIn(cwd, { cache });
  const { report, records } = await runIn(other, { cache, maxCostUsd: 0 });
  expect({ status: report.status, spending: report.spending }).toEqual({
    status: 'passed',
    spending: { calls: 2, cached: 2, cost_usd: 0 },
  });
  expect(records[0]?.epochs[0]).toMatchObject({ content: expect.stringMatching(/^answer/) });
});

test('each epoch gets a separate answer, and each is reused', async () => {
  const [cwd, other] = [baseline(), baseline()];
  const options = { cache: join(cwd, 'kept'), epochs: 3 };
  const first = await runIn(cwd, options);
  const second = await runIn(other, options);
  const texts = ({ records }: typeof first) =>
    records.map(({ epochs }) => epochs.map(({ content }) => content));
  expect({ asked: [first.asked, second.asked], different: new Set(texts(first).flat()).size }).toEqual({
    asked: [6, 0],
    different: 6,
  });
  expect(texts(second)).toEqual(texts(first));
});

test('without a folder answers are cached beside the state, and only with the option', async () => {
  const cwd = projectOf();
  await runIn(cwd);
  expect(readdirSync(join(cwd, '.signalbox'))).not.toContain('responses');
  await runIn(cwd, { cache: true });
  expect(readdirSync(join(cwd, '.signalbox'))).toContain('responses');
  await using runtime = await openRuntime(join(cwd, 'runtime.yaml'));
  expect(await runtime.evals.clearCache()).toEqual({ folder: join(cwd, '.signalbox/responses'), removed: 4 });
});

test.each([
  ['an error', { status: 500 }],
  ['an answer that a content filter cut off', { finish: 'content_filter' }],
  ['an answer with a secret', { text: 'sk-very-secret-key' }],
])('%s is never cached [DS-COST-06]', async (_what, given) => {
  const provider = `${priced}, credential: {api_key: sk-very-secret-key}`;
  const cwd = projectOf({ provider, cases: 1 });
  answer = given;
  await runIn(cwd, { cache: join(cwd, 'kept') });
  answer = {};
  const kept = readdirSync(join(cwd, 'kept'), { recursive: true, encoding: 'utf8' });
  expect(kept.filter((name) => name.endsWith('.json'))).toEqual([]);
});

test('guards judge a cached answer like a new one [DS-COST-07]', async () => {
  const cwd = baseline();
  const cache = join(cwd, 'kept');
  await runIn(cwd, { cache });
  const guarded = baseline();
  const file = join(guarded, 'runtime.yaml');
  const deny = '{"allow": false, "reason": "not today"}';
  writeFileSync(join(guarded, 'deny.sh'), `#!/bin/sh\ncat >/dev/null\necho '${deny}'\n`, { mode: 0o755 });
  const hook = '  hooks: {strict: {hook: provider, phases: [after_call], command: ./deny.sh}}\n';
  writeFileSync(file, readFileSync(file, 'utf8') + hook);
  const { report, records, asked } = await runIn(guarded, { cache });
  expect({ asked, status: report.status }).toEqual({ asked: 0, status: 'failed' });
  expect(records.map(({ epochs }) => epochs[0]?.subject?.error?.code)).toEqual(['DENIED', 'DENIED']);
});

test('a damaged entry is reported and requested again [DS-COST-08]', async () => {
  const [cwd, other] = [baseline(), baseline()];
  const cache = join(cwd, 'kept');
  await runIn(cwd, { cache });
  const names = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  );
  writeFileSync(join(cache, names[0] ?? ''), 'half of');
  const { asked, notes } = await runIn(other, { cache });
  expect({ asked, notes: notes.length }).toEqual({ asked: 1, notes: 1 });
});
