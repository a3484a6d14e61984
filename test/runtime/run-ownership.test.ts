import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';

const runtime = (tool: string) => `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: sqlite, path: shared.db}
  tools:
    pay: {approval: required, exec: {command: ${tool}}}
`;

test('a run does not go on with the tools of another config that shares its store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shared-'));
  const [ours, theirs] = ['ours.yaml', 'theirs.yaml'].map((name) => join(folder, name));
  writeFileSync(String(ours), runtime('/bin/true'));
  writeFileSync(String(theirs), runtime('/bin/false'));
  const desks = await Promise.all([ours, theirs].map((file) => openRuntime(String(file), { log: false })));
  onTestFinished(async () => {
    for (const desk of desks) await desk.close();
  });
  const [desk, stranger] = desks;
  const called = await desk?.tools.call('pay', {});
  expect(called).toMatchObject({ status: 'pending' });
  const [{ id = '', run_id = '' } = {}] = (await desk?.pending.list()) ?? [];
  const refusal = { code: 'USAGE', message: expect.stringContaining('ours.yaml') };
  await expect(stranger?.runs.resume(run_id)).rejects.toMatchObject(refusal);
  await expect(stranger?.pending.approve(id, { by: 'mara' })).rejects.toMatchObject(refusal);
  await expect(desk?.pending.approve(id, { by: 'mara' })).resolves.toMatchObject({ status: 'approved' });
});
