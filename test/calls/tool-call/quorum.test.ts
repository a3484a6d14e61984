import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import { prepareDecidedCall } from '../../../src/calls/tool-call/pending-call.ts';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import { ok } from '../../../src/contract/tool.ts';
import { openRuntime } from '../../../src/index.ts';
import { config, folderOf, pipeline, run, runJson } from '../../cli/command-line.ts';
import { newCall } from '../../store/examples.ts';
import { openCalls } from './played-calls.ts';

const rule = '{by: [mara, joe, ann], quorum: 2}';
const spec = (approval: string) =>
  `tools:\n  pay: {description: d, input_schema: {type: object}, exec: {command: ./pay.sh}, approval: ${approval}}\n`;
const files = {
  'runtime.yaml': config(spec(rule)),
  'pay.sh': '#!/bin/sh\ncat >> paid.txt\necho \'{"result": "paid"}\'\n',
  'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: pay}\n'),
};

async function desk() {
  const cwd = folderOf(files);
  const openOne = async () => {
    const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
    onTestFinished(() => runtime.close());
    return runtime;
  };
  const runtime = await openOne();
  const { run_id } = await runtime.run(join(cwd, 'p.pipeline.yaml'), {});
  const [waiting] = await runtime.pending.list();
  return { cwd, runtime, openOne, run_id, id: waiting?.id ?? '' };
}

const decisions: readonly { readonly ruling: PendingDecision; readonly by?: readonly string[] }[] = [
  { ruling: { kind: 'approved', args: null, by: 'mara', reason: '' } },
  { ruling: { kind: 'approved', args: null, by: 'mara', reason: '' }, by: ['mara'] },
  { ruling: { kind: 'approved', args: null, by: 'mara', reason: '' }, by: ['eve', 'mara'] },
  {
    ruling: { kind: 'approved', args: new Json('{"amount":1}'), by: 'mara', reason: '' },
    by: ['joe', 'mara'],
  },
  { ruling: { kind: 'responded', result: new Json('"done"'), by: 'mara', reason: '' }, by: ['joe', 'mara'] },
];

test.each(decisions)(
  'a stored decision of too few has no effect: %j [DS-QUORUM-03]',
  async ({ ruling, by = [] }) => {
    const approval = compileApproval('pay', { by: ['mara', 'joe'], quorum: 2 });
    for (const quorum of [undefined, 2]) {
      for (const origin of ['tool', 'hook', 'approval'] as const) {
        const { tool, heard } = openCalls();
        const pay = tool('pay', ok(new Json('"paid"')), { approval });
        const consents = by.map((name) => ({ by: name, reason: '', at: 1 }));
        const call = newCall('p1', 'r1', { origin, tool: 'pay', quorum });
        const decided = {
          record: { ...call, consents, ruling, decidedAt: 3_000 },
          editedArgs: null,
          approvals: [],
        };
        const { outcome } = await (await prepareDecidedCall({ tool: pay, args: '{}' }, decided)).finish();
        expect({ outcome, heard }).toMatchObject({
          outcome: { status: 'failed', error: { code: 'REJECTED' } },
          heard: [],
        });
      }
    }
  },
);

test('two people approve from two processes, and the tool receives both names [DS-QUORUM-01]', async () => {
  const { cwd, runtime, openOne, run_id, id } = await desk();
  const other = await openOne();
  const first = await runtime.pending.approve(id, { by: 'mara', reason: 'seen' });
  expect(first).toMatchObject({ status: 'open', quorum: 2, approvals: [{ by: 'mara', reason: 'seen' }] });
  await runtime.pending.approve(id, { by: 'mara' });
  expect(await runtime.runs.resume(run_id)).toMatchObject({ status: 'pending' });
  await expect(other.pending.approve(id, { by: 'eve' })).rejects.toMatchObject({ code: 'USAGE' });
  const shown = await run(['pending', 'list'], { cwd });
  expect(shown.stdout).toContain('open (1 of 2 approve)');
  const document = await run(['pending', 'show', id], { cwd });
  expect(document.stdout).toMatch(/approved +1 of 2: mara/);
  const last = await runJson(['pending', 'approve', id, '--by', 'joe', '--resume'], { cwd });
  expect(last).toMatchObject({ code: 0, document: { run_id, status: 'completed' } });
  expect(JSON.parse(readFileSync(join(cwd, 'paid.txt'), 'utf8'))).toMatchObject({
    approval: { by: 'mara, joe' },
  });
});

test('many concurrent approvals, through many runtimes, are one, and the tool runs once [DS-QUORUM-01]', async () => {
  const { cwd, runtime, openOne, run_id, id } = await desk();
  const runtimes = [runtime, await openOne(), await openOne()];
  const names = ['mara', 'mara', 'joe', 'ann', 'mara'];
  const made = await Promise.allSettled(
    names.map((by, index) => (runtimes[index % 3] ?? runtime).pending.approve(id, { by })),
  );
  const codes = made.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
  expect(codes.every((code) => code === 'PENDING_DECIDED')).toBe(true);
  const shown = await runtime.pending.show(id);
  expect([shown.status, new Set(shown.approvals?.map(({ by }) => by)).size]).toEqual(['approved', 2]);
  expect(await runtime.runs.resume(run_id)).toMatchObject({ status: 'completed' });
  expect(readFileSync(join(cwd, 'paid.txt'), 'utf8').match(/"approval"/g)).toHaveLength(1);
});

test('no single person can edit the arguments or answer for the others, and one rejects for all [DS-QUORUM-02 DS-QUORUM-03]', async () => {
  const { cwd, runtime, run_id, id } = await desk();
  for (const refused of [
    runtime.pending.approve(id, { by: 'mara', args: { amount: 1 } }),
    runtime.pending.respond(id, { by: 'mara', result: 'paid' }),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'USAGE' });
  const asked = await runtime.runs.resume(run_id, {
    ask: async () => ({ kind: 'responded', result: new Json('1'), by: 'mara', reason: '' }),
  });
  expect(asked).toMatchObject({ status: 'pending' });
  const one = await runtime.runs.resume(run_id, {
    ask: async () => ({ kind: 'approved', args: null, by: 'mara', reason: '' }),
  });
  expect(one).toMatchObject({ status: 'pending' });
  expect(await runtime.pending.show(id)).toMatchObject({ status: 'open', approvals: [{ by: 'mara' }] });
  const called = await runtime.tools.call(
    'pay',
    {},
    {
      approve: async (pause) => ({ id: pause.id, decision: 'approved', by: 'mara', reason: '' }),
    },
  );
  expect(called).toMatchObject({ status: 'pending' });
  const told = await run(['pending', 'approve', id, '--by', 'mara'], { cwd });
  expect(told.stdout).toBe(`approved by 1 of 2: mara; ${id} (tool "pay") still waits\n`);
  await runtime.pending.reject(id, { by: 'ann', reason: 'too much' });
  expect(await runtime.runs.resume(run_id)).toMatchObject({ status: 'failed', error: { code: 'REJECTED' } });
});

test('a config that now requires more people lets none approve alone [DS-QUORUM-03]', async () => {
  const cwd = folderOf({ ...files, 'runtime.yaml': config(spec('required')) });
  const before = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  await before.run(join(cwd, 'p.pipeline.yaml'), {});
  const [waiting] = await before.pending.list();
  await before.close();
  writeFileSync(join(cwd, 'runtime.yaml'), config(spec(rule)));
  const after = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  onTestFinished(() => after.close());
  await expect(after.pending.approve(waiting?.id ?? '', { by: 'mara' })).rejects.toMatchObject({
    code: 'USAGE',
  });
  expect(await after.pending.show(waiting?.id ?? '')).toMatchObject({ status: 'open' });
});

test.each([
  { approval: '{quorum: 2}', at: '7:26', says: 'a quorum needs `by`' },
  { approval: '{by: [mara], quorum: 2}', at: '7:38', says: 'cannot be reached' },
  { approval: '{by: [mara], quorum: 0}', at: '', says: 'quorum' },
  { approval: '{by: [mara, joe], qourum: 2}', at: '', says: 'quorum' },
])('validate reports $approval [DS-QUORUM-04]', async ({ approval, at, says }) => {
  const yaml = config(`tools:\n  pay:\n    approval: ${approval}\n    exec: {command: ./pay.sh}`);
  const cwd = folderOf({ ...files, 'runtime.yaml': yaml });
  const { code, stdout } = await run(['validate'], { cwd });
  expect(code).toBe(2);
  expect(stdout).toContain(says);
  expect(stdout).toContain(`runtime.yaml:${at}`);
});
