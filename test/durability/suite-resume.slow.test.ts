import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { onlyDocument, processesWith } from '../cli/command-line.ts';
import { type Grading, openGrading, startRun } from './grading.ts';

const CONCURRENCY = 4;
/** The most cases in flight. */
const WINDOW = 4 * CONCURRENCY;

async function openHere({ config }: Grading): Promise<Runtime> {
  const runtime = await openRuntime(config, { log: false });
  onTestFinished(() => runtime.close());
  return runtime;
}

async function killAt(grading: Grading, count: number, args: readonly string[]): Promise<void> {
  const { child, ran } = startRun(grading, args);
  onTestFinished(() => void child.kill('SIGKILL'));
  await grading.reaches(count);
  await sleep(Math.random() * 20);
  child.kill('SIGKILL');
  await ran;
  expect(child.signalCode).toBe('SIGKILL');
}

function idOf({ folder }: Grading, file: string): unknown {
  const [head = ''] = readFileSync(join(folder, file), 'utf8').split('\n', 1);
  return JSON.parse(head).run_id;
}

function somewhere(rows: number, part: number, parts: number): number {
  return Math.ceil((rows / parts) * (part + 0.1 + 0.4 * Math.random()));
}

test('5,276 cases, SIGKILL three times at random points: the report of an uninterrupted run, and only cases in progress graded twice', async () => {
  const rows = 5_276;
  const kills = 3;
  const calm = openGrading({ rows, concurrency: CONCURRENCY });
  const whole = startRun(calm, [
    '--json',
    '--reporter',
    'jsonl=whole.jsonl',
    '--concurrency',
    '16',
    '--no-store',
  ]).ran;

  const grading = openGrading({ rows, concurrency: CONCURRENCY });
  const jsonl = ['--json', '--reporter', 'jsonl=part.jsonl'];
  await killAt(grading, somewhere(rows, 0, kills), jsonl);
  const id = idOf(grading, 'part.jsonl');
  for (let kill = 1; kill < kills; kill += 1) {
    await killAt(grading, somewhere(rows, kill, kills), [...jsonl, '--resume']);
  }
  const last = await startRun(grading, [...jsonl, '--resume']).ran;
  expect({ code: last.code, id: JSON.parse(last.stdout).run_id, told: idOf(grading, 'part.jsonl') }).toEqual({
    code: 0,
    id,
    told: id,
  });
  expect((await whole).code).toBe(0);
  expect(grading.told('part.jsonl')).toEqual(calm.told('whole.jsonl'));

  const graded = grading.graded();
  expect(new Set(graded).size).toBe(rows);
  expect(graded.length).toBeLessThanOrEqual(rows + kills * WINDOW);
  expect(calm.graded()).toHaveLength(rows);

  const runtime = await openHere(grading);
  await expect(runtime.evals.run(grading.suite, { resume: String(id) })).rejects.toMatchObject({
    code: 'RUN_ENDED',
  });
  expect(grading.graded()).toHaveLength(graded.length);
});

test('SIGKILL during the epochs of a case: finished epochs are not repeated', async () => {
  const rows = 30;
  const epochs = 5;
  const repeat = ['--json', '--repeat', String(epochs)];
  const grading = openGrading({ rows, concurrency: 2, takes: 20 });
  await killAt(grading, 31, repeat);
  await killAt(grading, 92, [...repeat, '--resume']);
  const runtime = await openHere(grading);
  const report = await runtime.evals.run(grading.suite, { epochs, resume: true });
  expect(report).toMatchObject({ cases: rows, epochs, evals: { exact: { count: rows, flaky: 0 } } });
  const graded = grading.graded();
  const fewest = Math.min(...[...Map.groupBy(graded, (id) => id).values()].map(({ length }) => length));
  expect(fewest).toBe(epochs);
  // At each kill, two calls may have been in progress with their answers not yet stored.
  expect(graded.length).toBeLessThanOrEqual(rows * epochs + 2 * 4);
});

test('Ctrl-C ends a run with 130 and says how to continue; no other process resumes it meanwhile, and it is resumed later', async () => {
  const rows = 120;
  const grading = openGrading({ rows, concurrency: CONCURRENCY, takes: 100 });
  const { child, ran } = startRun(grading, ['--reporter', 'jsonl=part.jsonl', '--no-color']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await grading.reaches(20);
  const runtime = await openHere(grading);
  await expect(runtime.evals.run(grading.suite, { resume: true })).rejects.toMatchObject({
    code: 'RUN_BUSY',
    message: `another process is working on run ${idOf(grading, 'part.jsonl')}`,
  });
  child.kill('SIGINT');
  const { code, stderr } = await ran;
  expect({ code, left: processesWith(grading.mark) }).toEqual({ code: 130, left: [] });
  expect(stderr).toMatch(
    /\nerror: \[ABORTED\] [^\n]+\nhint: \d+ cases are stored; to continue, run the same command with --resume\.\n$/,
  );

  const before = grading.graded().length;
  expect(before).toBeLessThan(rows);
  const report = await runtime.evals.run(grading.suite, { resume: true });
  expect(report).toMatchObject({ run_id: idOf(grading, 'part.jsonl'), status: 'passed', cases: rows });
  expect(new Set(grading.graded()).size).toBe(rows);
  expect(grading.graded().length).toBeLessThanOrEqual(rows + WINDOW);
});

test('a report that cannot be written ends the run with one document, and no process stays', async () => {
  const grading = openGrading({ rows: 40, concurrency: CONCURRENCY });
  const run = async (reporter: string) => {
    const { code, stdout } = await startRun(grading, ['--json', '--reporter', `${reporter}=/dev/full`]).ran;
    return { code, document: onlyDocument(stdout), left: processesWith(grading.mark) };
  };
  const full = {
    code: 2,
    document: { error: { ...fullDisk, message: '/dev/full cannot be written: the disk is full' } },
    left: [],
  };
  expect(await run('jsonl')).toEqual(full);
  expect(grading.graded().length).toBeLessThanOrEqual(WINDOW);
  // Written at the end of the whole run, before the end is reported.
  expect(await run('junit')).toEqual(full);
});

const fullDisk = {
  code: 'FILE_UNREADABLE',
  hint: 'Check the path; relative paths start from the current folder.',
};
