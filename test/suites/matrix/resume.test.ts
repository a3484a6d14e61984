import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireConfig } from '../../../src/config/load.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openStoredRun } from '../../../src/suites/journal.ts';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { replayReport } from '../../../src/suites/report/replay-report.ts';
import { keepRun } from '../../../src/suites/run/keep-run.ts';
import { summarize } from '../../../src/suites/run-accumulator.ts';
import { run, writeFiles } from '../support.ts';
import { judging, loadMatrix, replying } from './support.ts';

test('a run interrupted within a row continues with the next variant [DS-MATRIX-07]', async () => {
  const rows = Array.from({ length: 4 }, (_, index) => ({ a: index % 2, b: 1, c: 'fault' as const }));
  const suite = loadMatrix(rows, { spec: 'repeat: {epochs: 2}' });
  const folder = writeFiles({ 'runtime.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' });
  const config = requireConfig(join(folder, 'runtime.yaml'), '');
  const store = await openSqliteResults(memoryFile);
  const asked: string[] = [];
  const begin = async (resume: true | undefined, stopAfter: number) => {
    const stop = new AbortController();
    const records: CaseRecord[] = [];
    const counted = (name: string) => ({
      answer: async (options: Parameters<ReturnType<typeof replying>['answer']>[0]) => {
        asked.push(`${name}${options.epoch}`);
        return await replying(name).answer(options);
      },
    });
    const variants = new Map(['a', 'b', 'c'].map((name) => [name, counted(name)]));
    const work = keepRun(
      store,
      { suite, config, programs: {}, wanted: {}, resume, total: 4 },
      async (header, journal) =>
        run(suite, {
          ...judging(['a', 'b', 'c']),
          ...{ header, journal, variants, signal: stop.signal },
          onProgress: (_now, record) => {
            if (record !== undefined) records.push(record);
            if (records.length === stopAfter) stop.abort();
          },
        }),
    );
    return { report: await work.catch((error: unknown) => error), records };
  };

  const cut = await begin(undefined, 5);
  expect(cut.report).toMatchObject({ code: 'ABORTED' });
  const [stored] = await store.listRuns();
  if (stored === undefined) throw new Error('nothing is kept');
  expect(await summarize(openStoredRun(store, stored))).toMatchObject({
    status: 'interrupted',
    variants: [{ name: 'a', cases: 2 }, { name: 'b', cases: 2 }, { name: 'c' }],
  });
  const before = asked.length;
  const { report, records } = await begin(true, -1);
  // Stored cases do not run again.
  expect(before + asked.slice(before).length).toBeLessThanOrEqual(4 * 3 * 2 + 2);
  expect(records.map(({ number, variant }) => `${number}${variant}`).join(' ')).toBe(
    '1a 1b 1c 2a 2b 2c 3a 3b 3c 4a 4b 4c',
  );
  expect(report).toMatchObject({
    ...{ status: 'error', cases: 12 },
    variants: [
      { name: 'a', cases: 4, overall: { passed: 2 } },
      { name: 'b', cases: 4, overall: { passed: 4 }, status: 'passed' },
      { name: 'c', cases: 4, totals: { answers: 8, failed: 8 } },
    ],
  });

  const [ended] = await store.listRuns();
  if (ended === undefined) throw new Error('nothing is kept');
  const source = openStoredRun(store, ended);
  expect(source.report).toEqual(report);
  expect((await Array.fromAsync(source.cases('r3'))).map(({ number, variant }) => [number, variant])).toEqual(
    [
      [3, 'a'],
      [3, 'b'],
      [3, 'c'],
    ],
  );
  const replayed: CaseRecord[] = [];
  await replayReport(source, {
    begin: async () => {},
    onCase: async (record) => void replayed.push(record),
    onProblem: async () => {},
    end: async () => {},
  });
  expect(replayed).toEqual(records);
});
