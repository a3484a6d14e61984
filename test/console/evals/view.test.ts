import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileDataSchema } from '../../../src/base/yaml/data-schema.ts';
import { evals } from '../../../src/console/api/evals.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openRunFile } from '../../../src/suites/report/run-file.ts';
import { runJson } from '../../cli/command-line.ts';
import { hostile, openFolder, openView, type View } from './support.ts';

/** The values of the lines of a kind. */
async function linesOf({ get }: View, id: string, kind: string): Promise<unknown[]> {
  const { text } = await get(`/evals/runs/${id}/report`);
  return [...text.matchAll(new RegExp(`^${kind} (.*)$`, 'gm'))].map(([, json = '']) => JSON.parse(json));
}

async function listOf(
  { get }: View,
  query = '',
): Promise<{ runs: { id: string; status: string }[]; next?: string }> {
  return JSON.parse((await get(`/evals/runs${query}`)).text);
}

test('a rating equals that of `eval rate`, is shown from then on and can be withdrawn [DS-VIEW-05]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const view = await openView([runtime]);
  const said = { case: 'one', eval: 'exact', score: 0.25, label: 'odd', comment: hostile };
  const sent = await view.rate(ids[0], said);
  const kept = { ...said, by: 'ada' };
  expect(JSON.parse(sent.text)).toMatchObject(kept);
  const listed = await runJson(['eval', 'rate', ids[0], '--list'], { cwd: folder });
  expect(listed.document).toMatchObject({ ratings: [kept] });
  expect(await linesOf(view, ids[0], 'rating')).toMatchObject([kept]);
  await runJson(['eval', 'rate', ids[0], '--case', 'two', '--by', 'joe', '--score', '1'], { cwd: folder });
  expect(await linesOf(view, ids[0], 'rating')).toHaveLength(2);
  const removed = await view.rate(ids[0], { case: 'one', eval: 'exact' }, { method: 'DELETE' });
  expect([removed.status, JSON.parse(removed.text)]).toEqual([200, { removed: true }]);
  expect(await linesOf(view, ids[0], 'rating')).toMatchObject([{ case: 'two', by: 'joe' }]);
  expect((await view.rate(ids[0], { case: 'two' }, { method: 'DELETE' })).status).toBe(404);
});

test('runs are listed newest first, by suite and page by page, those of several stores and of files together [DS-VIEW-06]', async () => {
  const [one, other] = [await openFolder(), await openFolder()];
  await copyRun(one.folder, one.ids[0], 60);
  const file = join(one.folder, 'run.jsonl');
  await runJson(['eval', 'run', 's.suite.yaml', '--no-store', '--reporter', `jsonl=${file}`], {
    cwd: one.folder,
  });
  const view = await openView([one.runtime, other.runtime], [file]);
  const pages: string[][] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
    const page = await listOf(view, `?limit=50${after}`);
    pages.push(page.runs.map(({ id }) => id));
    next = page.next;
  }
  expect(pages.map(({ length }) => length)).toEqual([51, 14]);
  const kept = [...(await one.runtime.evals.runs.list()), ...(await other.runtime.evals.runs.list())];
  const sorted = kept.toSorted((a, b) => b.started_at.localeCompare(a.started_at)).map(({ id }) => id);
  expect(pages.flat()).toEqual(['file-1', ...sorted]);
  expect(await listOf(view, '?suite=none')).toEqual({ runs: [] });
  expect(await linesOf(view, 'file-1', 'report')).toHaveLength(1);
  expect(await linesOf(view, 'file-1', 'served')).toEqual([{ by: null }]);
  const { header } = await openRunFile(file);
  const history = JSON.parse(
    (await view.get(`/evals/history?suite=${encodeURIComponent(header.suite)}&limit=3`)).text,
  );
  expect(history.runs).toHaveLength(3);
});

test('a run in progress shows its current state [DS-VIEW-06]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const [goesOn, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const view = await openView([runtime]);
  const running = runtime.evals.run(join(folder, 's.suite.yaml'), {
    reporter: {
      begin: async () => {},
      onCase: async (record) => {
        if (record.id === 'one') shown.resolve('');
        await goesOn.promise;
      },
      onProblem: async () => {},
      end: async () => {},
    },
  });
  await shown.promise;
  const [run] = (await listOf(view)).runs;
  const id = run?.id ?? '';
  expect([run?.status, ids.includes(id)]).toEqual(['running', false]);
  expect(await linesOf(view, id, 'served')).toMatchObject([{ isRunning: true }]);
  expect(await linesOf(view, id, 'report')).toMatchObject([{ problems: [], problem_count: 0 }]);
  const [row] = await linesOf(view, id, 'row');
  expect(row).toEqual(expect.arrayContaining([1, 'one']));
  goesOn.resolve();
  await running;
  expect(await linesOf(view, id, 'report')).toMatchObject([{ status: 'passed' }]);
});

test('changes of any store are announced while a page listens', async () => {
  const [one, other] = [await openFolder(), await openFolder()];
  const { origin, authorization, rate } = await openView([one.runtime, other.runtime]);
  const leave = new AbortController();
  const response = await fetch(`${origin}/api/v1/changes?kinds=suites`, {
    headers: { authorization },
    signal: leave.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let read = '';
  const until = async (lines: number) => {
    while (read.split('\n').length <= lines) read += (await reader?.read())?.value ?? '';
  };
  await until(2);
  await rate(other.ids[0], { case: 'one', score: 1 });
  await until(3);
  leave.abort();
  expect(read).toMatch(/^(\{"kinds":\["suites"\]\}\n){3}/);
});

test('runs are compared, and missing ones are reported', async () => {
  const { runtime, ids } = await openFolder();
  const { get } = await openView([runtime]);
  const compared = await get(`/evals/compare?a=${ids[0]}&b=${ids[1]}`);
  expect(JSON.parse(compared.text)).toMatchObject({ title: 'Evals compared', isShadows: false });
  const missing = [
    `/evals/compare?a=none&b=${ids[0]}`,
    '/evals/runs/none/report',
    `/evals/runs/${ids[0]}/case?case=none`,
    `/evals/runs/${ids[0]}/case?case=one&number=2`,
  ];
  for (const path of missing) expect([path, (await get(path)).status]).toEqual([path, 404]);
  for (const path of [`/evals/compare?a=${ids[0]}`, `/evals/runs/${ids[0]}/case`, '/evals/runs?limit=0'])
    expect([path, (await get(path)).status]).toEqual([path, 400]);
});

test('every answer fits its declaration', async () => {
  const { runtime, ids } = await openFolder();
  const { get, rate } = await openView([runtime]);
  const [run] = await runtime.evals.runs.list();
  const replies: Partial<Record<keyof typeof evals, string>> = {
    'GET /evals/runs': (await get('/evals/runs?limit=1')).text,
    'GET /evals/runs/{id}/case': (await get(`/evals/runs/${ids[0]}/case?case=one`)).text,
    'GET /evals/compare': (await get(`/evals/compare?a=${ids[0]}&b=${ids[1]}`)).text,
    'GET /evals/history': (await get(`/evals/history?suite=${encodeURIComponent(run?.suite ?? '')}`)).text,
    'POST /evals/runs/{id}/ratings': (await rate(ids[0], { case: 'one', label: 'x' })).text,
    'DELETE /evals/runs/{id}/ratings': (await rate(ids[0], { case: 'one' }, { method: 'DELETE' })).text,
  };
  const documents = Object.entries(evals).filter(([, { response }]) => !('stream' in response));
  for (const [key, { response }] of documents) {
    const validate = compileDataSchema({ ...response }, { hasFormats: true });
    const reply = JSON.parse(Object.entries(replies).find(([each]) => each === key)?.[1] ?? 'null');
    expect([key, validate(reply), validate.errors ?? []]).toEqual([key, true, []]);
  }
});

test('lines without details are few, and the same as those with them [DS-VIEW-07]', async () => {
  const { runtime, ids } = await openFolder();
  const { get } = await openView([runtime]);
  const path = `/evals/runs/${ids[0]}/report`;
  const [light, whole] = [(await get(path)).text, (await get(`${path}?details=true`)).text];
  expect(whole.replaceAll(/^detail .*\n/gm, '')).toBe(light);
  const details = [...whole.matchAll(/^detail (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  const one = await get(`/evals/runs/${ids[0]}/case?case=one&number=1`);
  expect(details).toMatchObject([JSON.parse(one.text), { id: 'two' }]);
});

test('a store that is removed while it is served is an error with the next step, and the server survives [DS-VIEW-06]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const { get, rate } = await openView([runtime]);
  expect((await get('/evals/runs')).status).toBe(200);
  renameSync(join(folder, '.signalbox'), join(folder, 'gone'));
  const answers = [
    await get('/evals/runs'),
    await get(`/evals/runs/${ids[0]}/report`),
    await rate(ids[0], { case: 'one', score: 1 }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  renameSync(join(folder, 'gone'), join(folder, '.signalbox'));
  expect((await get('/evals/runs')).status).toBe(200);
});

test('a broken file is listed, and its page says why', async () => {
  const { folder, runtime, ids } = await openFolder();
  const file = join(folder, 'run.jsonl');
  writeFileSync(file, 'no run\n');
  const view = await openView([runtime], [file]);
  const { runs } = await listOf(view);
  expect([runs[0]?.id, runs.some(({ id }) => id === ids[0])]).toEqual(['file-1', true]);
  const report = await view.get('/evals/runs/file-1/report');
  expect([report.status, JSON.parse(report.text).error.message]).toEqual([
    404,
    expect.stringContaining(file),
  ]);
  expect((await view.rate('file-1', { case: 'one', score: 1 })).status).toBe(404);
});

async function copyRun(folder: string, id: string, count: number): Promise<void> {
  const store = await openSqliteResults(join(folder, '.signalbox', 'evals.db'));
  const run = await store.findRun(id);
  if (run === undefined) throw new Error(`${id} is not kept`);
  const { status: _status, report: _report, ...made } = run;
  for (let more = 1; more <= count; more += 1) {
    const createdAt = run.createdAt + more * 1000;
    const header = run.header.replace(
      /"started_at":"[^"]*"/,
      `"started_at":"${new Date(createdAt).toISOString()}"`,
    );
    await store.createRun({ ...made, id: `copy-${more}`, createdAt, header });
  }
  await store.close();
}
