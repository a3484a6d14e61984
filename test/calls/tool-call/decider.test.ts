import { expect, test } from 'vitest';
import type { Approval, PendingDecision } from '../../../src/contract/approval.ts';
import { openDesk, pendingOf } from '../../pipelines/desk.ts';

const spec = `
tools:
  pay: {approval: required, exec: {command: $bin/echo-args}}
`;
const step = 'steps: [{id: paid, tool: pay, args: {amount: 900}}]\noutput: "${steps.paid.result}"\n';

/** Values that name nobody, some of them only possible without types. */
const nobodies: readonly unknown[] = [
  ...['', ' ', '\t\n', 'ma\0ra', 'mara\nby: root', '\u001b[2Jmara', '\u202eara', '\u200b', '\ud800'],
  ...[undefined, null, 7, {}],
];

test.each(nobodies.map((by) => ({ by })))(
  '%j is no valid name, and cannot decide or cancel',
  async (given) => {
    const by = given.by as string;
    const desk = await openDesk(spec);
    const paused = await desk.run(step);
    const id = pendingOf(paused);
    const { pending, runs, tools } = desk.runtime;
    for (const decide of [
      () => pending.approve(id, { by }),
      () => pending.reject(id, { by, reason: 'no' }),
      () => pending.respond(id, { by, result: 1 }),
      () => runs.cancel(paused.run_id, { by }),
    ]) {
      await expect(decide()).rejects.toMatchObject({ code: 'USAGE' });
    }
    const onTheSpot = { kind: 'approved', args: null, by, reason: '' } as const satisfies PendingDecision;
    expect(await runs.resume(paused.run_id, { ask: async () => onTheSpot })).toMatchObject({
      status: 'pending',
    });
    const approval = { id: 'x', decision: 'approved', by, reason: '' } as const satisfies Approval;
    expect(await tools.call('pay', {}, { approve: async () => approval })).toMatchObject({
      status: 'failed',
      error: { code: 'USAGE' },
    });
    expect(await pending.show(id)).toMatchObject({ status: 'open', by: null });
  },
);

test.each(['mara', 'Jürgen von der Au', 'محمد‌علی', '山田 太郎', 'o’neill@example.org'])(
  '%s may decide',
  async (by) => {
    const desk = await openDesk(spec);
    const id = pendingOf(await desk.run(step));
    expect(await desk.runtime.pending.approve(id, { by })).toMatchObject({ status: 'approved', by });
  },
);

test('an invalid decision, or a reason that is no text, is reported', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(step);
  const id = pendingOf(paused);
  const { pending, runs } = desk.runtime;
  const given: readonly unknown[] = [undefined, null, 'mara', ['mara'], { by: 'mara', reason: 7 }];
  for (const each of given) {
    const decision = each as { by: string; result: unknown };
    await expect(pending.approve(id, decision)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(pending.reject(id, decision)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(pending.respond(id, decision)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(runs.cancel(paused.run_id, decision)).rejects.toMatchObject({ code: 'USAGE' });
  }
  expect(await pending.show(id)).toMatchObject({ status: 'open' });
});
