import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireConfig } from '../../../src/config/load.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { keepRun } from '../../../src/suites/run/keep-run.ts';
import { loadSpec, run, writeFiles } from '../support.ts';

test('a run that ends while another process is about to resume it stays ended', async () => {
  const suite = loadSpec(
    'cases: [{content: x, params: {}}]\nevals: [{id: e, type: t, params: {score: 1}}]\n',
  );
  const folder = writeFiles({
    'runtime.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n',
  });
  const config = requireConfig(join(folder, 'runtime.yaml'), '');
  const store = await openSqliteResults(memoryFile);
  const keeping = { suite, config, programs: { 'ev.py': 'a' }, wanted: {}, resume: undefined, total: null };
  const failing = keepRun(store, keeping, async () => {
    throw new Error('cut off');
  });
  await expect(failing).rejects.toThrow('cut off');
  const [cutOff] = await store.listRuns();
  expect(cutOff).toMatchObject({ status: 'interrupted', report: null });

  const overtaken = {
    ...store,
    claimRun: async (id: string) => {
      await store.setRunEnd(id, { status: 'passed', report: '{}' });
      return await store.claimRun(id);
    },
  };
  const late = keepRun(overtaken, { ...keeping, resume: true, total: null }, async () => await run(suite));
  await expect(late).rejects.toMatchObject({ code: 'RUN_ENDED' });
  expect(await store.listRuns()).toMatchObject([{ id: cutOff?.id, status: 'passed', report: '{}' }]);
  // The claim is released.
  expect(await store.claimRun(cutOff?.id ?? '')).toBeDefined();
});
