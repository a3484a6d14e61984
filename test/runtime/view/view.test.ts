import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { runJson } from '../../cli/command-line.ts';
import { hostile, openFolder, openView } from './support.ts';

test('a rating equals that of `eval rate`, is shown from then on and can be withdrawn [DS-VIEW-05]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const { get, rate } = await openView([runtime]);
  const sent = await rate(ids[0], {
    case: 'one',
    eval: 'exact',
    by: 'ada',
    score: 0.25,
    label: 'odd',
    comment: hostile,
  });
  const kept = { case: 'one', eval: 'exact', by: 'ada', score: 0.25, label: 'odd', comment: hostile };
  expect(JSON.parse(sent.text)).toMatchObject({ run_id: ids[0], rating: kept });
  const listed = await runJson(['eval', 'rate', ids[0], '--list'], { cwd: folder });
  expect(listed.document).toMatchObject({ ratings: [kept] });
  const inPage = async () =>
    [...(await get(`/runs/${ids[0]}`)).text.matchAll(/^rating (.*)$/gm)].map(([, json = '']) =>
      JSON.parse(json),
    );
  expect(await inPage()).toMatchObject([kept]);
  await runJson(['eval', 'rate', ids[0], '--case', 'two', '--by', 'joe', '--score', '1'], { cwd: folder });
  expect(await inPage()).toHaveLength(2);
  const removed = await rate(ids[0], { case: 'one', eval: 'exact', by: 'ada' }, { method: 'DELETE' });
  expect(JSON.parse(removed.text)).toEqual({
    run_id: ids[0],
    removed: { case: 'one', eval: 'exact', by: 'ada' },
  });
  expect(await inPage()).toMatchObject([{ case: 'two', by: 'joe' }]);
  expect((await rate(ids[0], { case: 'one', by: 'ada' }, { method: 'DELETE' })).status).toBe(404);
});

test('runs are listed newest first, by suite and page by page, those of several stores and of files together [DS-VIEW-06]', async () => {
  const [one, other] = [await openFolder(), await openFolder()];
  await copyRun(one.folder, one.ids[0], 60);
  const file = join(one.folder, 'run.jsonl');
  await runJson(['eval', 'run', 's.suite.yaml', '--no-store', '--reporter', `jsonl=${file}`], {
    cwd: one.folder,
  });
  const { get } = await openView([one.runtime, other.runtime], [file]);
  const seen: string[] = [];
  let next: string | undefined = '/';
  const pages: number[] = [];
  while (next !== undefined) {
    const { text } = await get(next);
    const listed = [...text.matchAll(/href="\/runs\/([^"]+)"/g)].map(([, id = '']) => id);
    pages.push(listed.length);
    seen.push(...listed);
    next = /href="(\/\?[^"]*after=[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(pages).toEqual([51, 14]);
  const kept = [...(await one.runtime.evals.runs.list()), ...(await other.runtime.evals.runs.list())];
  const sorted = kept.toSorted((a, b) => b.started_at.localeCompare(a.started_at)).map(({ id }) => id);
  expect(seen).toEqual(['file-1', ...sorted]);
  expect((await get('/?suite=none')).text).toContain('No run of the suite none is stored');
  expect((await get('/runs/file-1')).text).toMatch(/^report \{/m);
});

test('a run in progress shows its current state [DS-VIEW-06]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const [goesOn, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const { get } = await openView([runtime]);
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
  const [run] = await runtime.evals.runs.list({ limit: 1 });
  const page = await get(`/runs/${run?.id}`);
  expect([run?.status, ids.includes(run?.id ?? '')]).toEqual(['running', false]);
  expect(page.text).toMatch(/^row \[1,"one"/m);
  expect((await get('/')).text).toContain('running');
  goesOn.resolve();
  await running;
  expect((await get(`/runs/${run?.id}`)).text).toMatch(/^report \{.*"status":"passed"/m);
});

test('runs are compared as `eval diff --html` does, and missing ones are reported', async () => {
  const { runtime, ids } = await openFolder();
  const { get } = await openView([runtime]);
  const compared = await get(`/compare?a=${ids[0]}&b=${ids[1]}`);
  expect(compared.text).toContain('<h1>Evals compared</h1>');
  const missing = [
    `/compare?a=${ids[0]}`,
    `/compare?a=none&b=${ids[0]}`,
    '/runs/none',
    `/runs/${ids[0]}/case?id=none&number=1`,
  ];
  for (const path of missing) expect([path, (await get(path)).status]).toEqual([path, 404]);
});

test('a store that is removed while it is served is an error with the next step, and the server survives [DS-VIEW-06]', async () => {
  const { folder, runtime, ids } = await openFolder();
  const { get, rate } = await openView([runtime]);
  expect((await get('/')).status).toBe(200);
  renameSync(join(folder, '.signalbox'), join(folder, 'gone'));
  const answers = [
    await get('/'),
    await get(`/runs/${ids[0]}`),
    await rate(ids[0], { case: 'one', by: 'eve', score: 1 }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
  renameSync(join(folder, 'gone'), join(folder, '.signalbox'));
  expect((await get('/')).status).toBe(200);
});

test('a broken file is listed, and its page says why', async () => {
  const { folder, runtime, ids } = await openFolder();
  const file = join(folder, 'run.jsonl');
  writeFileSync(file, 'no run\n');
  const { get, rate } = await openView([runtime], [file]);
  expect((await get('/')).text).toContain(ids[0]);
  expect((await get('/runs/file-1')).status).toBe(500);
  expect((await rate('file-1', { case: 'one', by: 'eve', score: 1 })).status).toBe(500);
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
