import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import type { CallableTool } from '../../../src/calls/tool-call/callable-tool.ts';
import { prepareDecidedCall } from '../../../src/calls/tool-call/pending-call.ts';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import { ok } from '../../../src/contract/tool.ts';
import { openRuntime } from '../../../src/index.ts';
import { config, folderOf, pipeline, run } from '../../cli/command-line.ts';
import { newCall } from '../../store/examples.ts';
import { openCalls } from './played-calls.ts';

const approval = compileApproval('pay', { by: ['mara', 'joe'] });
const reason = '';
const decisions: readonly PendingDecision[] = [
  { kind: 'approved', args: null, by: 'eve', reason },
  { kind: 'approved', args: new Json('{"amount":1}'), by: 'eve', reason },
  { kind: 'approved', args: null, by: 'Mara', reason },
  { kind: 'responded', result: new Json('"done"'), by: 'eve', reason },
];

test.each(decisions)(
  'a stored decision of another person has no effect: %j [DS-APPROVER-01]',
  async (ruling) => {
    for (const origin of ['tool', 'hook', 'approval', 'interrupted'] as const) {
      const { tool, heard } = openCalls();
      const pay = tool('pay', ok(new Json('"paid"')), { approval });
      const record = { ...newCall('p1', 'r1', { origin, tool: 'pay' }), ruling, decidedAt: 3_000 };
      const decided = { record, editedArgs: null, approvals: [] };
      const { finish } = await prepareDecidedCall({ tool: pay, args: '{}' }, decided);
      const { outcome } = await finish();
      expect({ outcome, heard }).toMatchObject({
        outcome: { status: 'failed', error: { code: 'REJECTED' } },
        heard: [],
      });
    }
  },
);

test('it has none on a call that hooks renamed to a tool with other approvers either [DS-APPROVER-01]', async () => {
  const { tool, heard } = openCalls();
  const plain = tool('look', ok(new Json('"seen"')));
  const pay: CallableTool = tool('pay', ok(new Json('"paid"')), { approval });
  const ruling = { kind: 'approved', args: null, by: 'eve', reason } as const;
  const record = { ...newCall('p1', 'r1', { origin: 'approval', tool: 'pay' }), ruling, decidedAt: 3_000 };
  const find = (name: string) => (name === 'pay' ? pay : plain);
  const decided = { record, editedArgs: null, approvals: [] };
  const { finish } = await prepareDecidedCall({ tool: plain, args: '{}' }, decided, { find });
  expect({ outcome: (await finish()).outcome, heard }).toMatchObject({
    outcome: { status: 'failed' },
    heard: [],
  });
});

const spec = `tools:
  pay: {description: d, input_schema: {type: object}, exec: {command: ./pay.sh}, approval: {by: [mara, joe]}}
`;
const files = {
  'runtime.yaml': config(spec),
  'pay.sh': '#!/bin/sh\ncat >> paid.txt\necho \'{"result": "paid"}\'\n',
  'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: pay}\n'),
};

test('another person cannot decide, and the call still waits for its approvers [DS-APPROVER-02]', async () => {
  const cwd = folderOf(files);
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  const ran = await runtime.run(join(cwd, 'p.pipeline.yaml'), {});
  const [waiting] = await runtime.pending.list();
  const id = waiting?.id ?? '';
  const refused = {
    code: 'USAGE',
    message: '"eve" may not decide about tool "pay"',
    hint: 'Its approval names mara, joe: use --by.',
  };
  await expect(runtime.pending.approve(id, { by: 'eve' })).rejects.toMatchObject(refused);
  await expect(runtime.pending.respond(id, { by: 'eve', result: 1 })).rejects.toMatchObject(refused);
  await expect(runtime.pending.reject(id, { by: 'eve' })).rejects.toMatchObject(refused);
  expect(await runtime.pending.show(id)).toMatchObject({ status: 'open' });
  const own = await run(['pending', 'approve', id], { cwd });
  expect({ code: own.code, told: own.stderr }).toEqual({
    code: 2,
    told: expect.stringContaining('may not decide'),
  });
  await runtime.pending.approve(id, { by: 'joe' });
  expect(await runtime.runs.resume(ran.run_id)).toMatchObject({ status: 'completed' });
  await runtime.close();
  expect(JSON.parse(readFileSync(join(cwd, 'paid.txt'), 'utf8'))).toMatchObject({ approval: { by: 'joe' } });
});

test('a callback that approves in another name has approved nothing [DS-APPROVER-02]', async () => {
  const cwd = folderOf(files);
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  const approveAs = (by: string) => async (pause: { readonly id: string }) =>
    ({ id: pause.id, decision: 'approved', by, reason: '' }) as const;
  const denied = await runtime.tools.call('pay', {}, { approve: approveAs('eve') });
  expect(denied).toMatchObject({ status: 'failed', error: { code: 'USAGE' } });
  expect(await runtime.tools.call('pay', {}, { approve: approveAs('mara') })).toMatchObject({ status: 'ok' });
  await runtime.close();
});
