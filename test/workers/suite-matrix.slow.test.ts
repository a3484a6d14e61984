import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { comparable, openSuite, reportOf, type SuiteProject } from './suite-project.ts';
import { runProgram, startWorker, type WorkerProcess } from './worker-process.ts';

/** Accepts those of ten numbers, slowly enough that kills happen within parts. */
const provider = (id: string, pattern: string) => `
    - id: ${id}
      type: mock
      model: m-${id}
      pricing: {input_cost_per_1k: 1, output_cost_per_1k: 1}
      additional_config:
        responses:
          - {when: 'messages[0].content.matches("${pattern}")', text: "yes", delay_ms: 15, usage: {input_tokens: 10, output_tokens: 2}, repeat: true}
          - {text: "no", delay_ms: 15, usage: {input_tokens: 10, output_tokens: 2}, repeat: true}`;

const suiteText = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  dataset: {path: rows.jsonl}
  case: {id: "\${case.id}", tags: ["n\${case.n % 10}"]}
  subject:
    chat:
      provider: [small, large]
      messages: "number \${case.n}"
      prompts: [{name: plain}, {name: told, system: "Say yes."}]
  evals:
    - {id: says_yes, type: contains, params: {patterns: ["yes"]}, label: '\${case.n % 2 == 0 ? "pass" : "fail"}'}
    - {id: short, type: max_length, params: {max: 2}, role: metric, if: "\${case.n != 5}"}
  gates:
    - {eval: says_yes, metric: pass_rate, min: 0.5, variants: [large/plain, large/told]}
    - {eval: says_yes, metric: pass_rate, better_than: small/plain, variants: [large/plain]}
    - {eval: says_yes, metric: mean, better_than: small/told, variants: [large/told]}
    - {metric: cost_usd, max: 100}
`;

function openMatrix(rows: number): SuiteProject {
  const project = openSuite({ cases: rows, badRows: [7] });
  const providers = `  providers:${provider('small', '[12]$')}${provider('large', '[1-7]$')}${provider('other', '9$')}\n`;
  writeFileSync(project.config, readFileSync(project.config, 'utf8') + providers);
  writeFileSync(project.suite, suiteText);
  return project;
}

const gates = [
  ...['large/plain', 'large/told'].map((variant) => ({ variant, metric: 'pass_rate', passed: true })),
  { variant: 'large/plain', better_than: 'small/plain', test: { name: 'mcnemar' }, passed: true },
  { variant: 'large/told', better_than: 'small/told', test: { name: 'paired_t' }, passed: true },
];

describe.runIf(hasPostgres)(`suites with variants that workers share${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const countOf = async (url: string) => {
    const sql = `SELECT count(*)::int AS n, count(DISTINCT number)::int AS numbers FROM signalbox.results`;
    const [row] = await server.ask(sql, new URL(url).pathname.slice(1));
    return { results: Number(row?.['n']), numbers: Number(row?.['numbers']) };
  };

  test('workers of which five are killed judge each row once for each variant, and come to the report, the gates and the lists of one process [DS-SUITES-05]', async () => {
    const url = await server.newUrl('tcp');
    const project = openMatrix(300);
    const start = () => startWorker(project.copy().config, { url, args: ['--concurrency', '1'] });
    const workers: WorkerProcess[] = await Promise.all([start(), start()]);
    const args = ['eval', 'run', project.suite, '--config', project.config, '--keep-going', '--json'];
    const csv = (name: string) => ['--reporter', `csv=${join(project.folder, name)}`];
    let isOver = false;
    const running = runProgram([...args, ...csv('shared.csv'), '--workers'], { url }).finally(() => {
      isOver = true;
    });
    let killed = 0;
    while (!isOver && killed < 5) {
      if ((await countOf(url)).results < (4 * 299 * (killed + 1)) / 7) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      workers[killed % 2]?.child.kill('SIGKILL');
      workers[killed % 2] = await start();
      killed += 1;
    }
    const shared = await running;
    expect([shared.code, killed, shared.stderr.includes('rror')]).toEqual([0, 5, false]);
    expect(await countOf(url)).toEqual({ results: 4 * 299, numbers: 4 * 299 });
    const alone = await runProgram([...args, ...csv('alone.csv'), '--no-store'], { url });
    expect(comparable(shared.stdout)).toEqual(comparable(alone.stdout));
    expect(JSON.parse(shared.stdout)).toMatchObject({
      cases: 4 * 299,
      problem_count: 1,
      gates: expect.any(Array),
    });
    expect(JSON.parse(shared.stdout).gates.slice(0, 4)).toMatchObject(gates);
    const [listed, alsoListed] = ['shared.csv', 'alone.csv'].map((name) =>
      reportOf(join(project.folder, name)),
    );
    expect(listed).toEqual(alsoListed);
    expect(listed).toHaveLength(2 + 299 * 4 * 2 - 4 * 4);
  });

  test('a run whose command is killed continues with --resume, and repeats nothing [DS-SUITES-05]', async () => {
    const url = await server.newUrl('tcp');
    const project = openMatrix(200);
    const args = ['eval', 'run', project.suite, '--config', project.config, '--keep-going', '--json'];
    const worker = await startWorker(project.config, { url, args: ['--concurrency', '1'] });
    const isBegun = expect
      .poll(async () => (await countOf(url)).results, { timeout: 25_000 })
      .toBeGreaterThan(0);
    const cut = await runProgram([...args, '--workers'], { url, killedAfter: isBegun });
    expect(cut).toMatchObject({ code: 'SIGKILL', stdout: '' });
    const keptRows = async () => {
      const sql = 'SELECT number, epoch, xmin::text FROM signalbox.results ORDER BY 1';
      return await server.ask(sql, new URL(url).pathname.slice(1));
    };
    const done = await keptRows();
    expect(done.length).toBeLessThan(4 * 199);
    const resumed = await runProgram([...args, '--workers', '--resume'], { url });
    const now = await keptRows();
    expect(now).toHaveLength(4 * 199);
    expect(now).toEqual(expect.arrayContaining(done));
    const alone = await runProgram([...args, '--no-store'], { url });
    expect([resumed.code, comparable(resumed.stdout)]).toEqual([alone.code, comparable(alone.stdout)]);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
  });

  test('more cases than a matrix may have are refused without a worker [DS-SUITES-05]', async () => {
    const project = openMatrix(62_501);
    const prompts = Array.from({ length: 8 }, (_none, index) => `{name: p${index}}`).join(', ');
    const text = suiteText.replace(/prompts: .*/, `prompts: [${prompts}]`).replace(/ {2}gates:[\s\S]*/, '');
    writeFileSync(project.suite, text);
    const args = ['eval', 'run', project.suite, '--config', project.config, '--workers', '--json'];
    const { code, stdout } = await runProgram(args, { url: await server.newUrl('tcp') });
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: 'USAGE' } }]);
  });

  test('--provider makes the variants, of which workers judge those that it names [DS-SUITES-05]', async () => {
    const url = await server.newUrl('tcp');
    const project = openMatrix(20);
    writeFileSync(project.suite, suiteText.replace(/ {2}gates:[\s\S]*/, ''));
    await startWorker(project.config, { url });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--keep-going', '--json'];
    const asked = [...args, '--provider', 'large,other'];
    const shared = await runProgram([...asked, '--workers'], { url });
    const alone = await runProgram([...asked, '--no-store'], { url });
    expect(comparable(shared.stdout)).toEqual(comparable(alone.stdout));
    const { variants } = JSON.parse(shared.stdout);
    expect(variants.map(({ name }: { name: string }) => name)).toEqual([
      ...['large/plain', 'large/told', 'other/plain', 'other/told'],
    ]);
    const one = await runProgram([...args, '--provider', 'other', '--workers'], { url });
    expect(JSON.parse(one.stdout)).toMatchObject({ variants: [{ name: 'plain' }, { name: 'told' }] });
  });
});
