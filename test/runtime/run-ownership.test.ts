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

test('a run does not continue with the tools of another config in the same store', async () => {
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

test('a run that started with an overlay does not continue without it, whatever the overlay needs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'overlaid-'));
  const [file, over] = ['runtime.yaml', 'over.yaml'].map((name) => join(folder, name));
  writeFileSync(String(file), runtime('/bin/true').replace('approval: required, ', ''));
  const overlay = 'spec: {tools: {pay: {approval: {by: [mara]}, description: "${env:DESK}"}}}\n';
  writeFileSync(String(over), overlay);
  const env = { ...process.env, DESK: 'one' };
  const whole = await openRuntime(String(file), { log: false, overlays: [String(over)], env });
  const part = await openRuntime(String(file), { log: false });
  onTestFinished(async () => {
    await whole.close();
    await part.close();
  });
  expect(await whole.tools.call('pay', {})).toMatchObject({ status: 'pending' });
  const [{ id = '', run_id = '' } = {}] = await whole.pending.list();
  const refusal = { code: 'USAGE', hint: `Add --config ${file} --config ${over}.` };
  await expect(part.pending.approve(id, { by: 'eve' })).rejects.toMatchObject(refusal);
  await expect(part.pending.approve(id, { by: 'mara' })).rejects.toMatchObject(refusal);
  await expect(part.runs.resume(run_id)).rejects.toMatchObject(refusal);
  await expect(whole.pending.approve(id, { by: 'mara' })).resolves.toMatchObject({ status: 'approved' });
});
