import { expect, test } from 'vitest';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import type { RunOptions } from '../../../src/runtime/runtime.ts';
import { openDesk, pendingOf } from '../../pipelines/desk.ts';

const spec = `
tools:
  pay: {approval: required, exec: {command: $bin/echo-args}}
`;
const step = 'steps: [{id: paid, tool: pay, args: {amount: 900}}]\noutput: "${steps.paid.result}"\n';

function saying(given: unknown): RunOptions {
  return { ask: async () => given as PendingDecision };
}

const said = { by: 'mara', reason: 'fine' };

test.each([
  { title: 'an object', args: { amount: 1 }, output: { amount: 1 } },
  { title: 'text', args: '{"amount": 1}', output: { amount: 1 } },
  { title: 'nothing', args: undefined, output: { amount: 900 } },
])('arguments edited on the spot as $title go to the tool', async ({ args, output }) => {
  const desk = await openDesk(spec);
  const end = await desk.run(step, {}, saying({ kind: 'approved', args, ...said }));
  expect(end).toMatchObject({ status: 'completed', output });
});

test('an answer that is given on the spot is plain JSON', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(step, {}, saying({ kind: 'responded', result: { paid: true }, ...said }));
  expect(end).toMatchObject({ status: 'completed', output: { paid: true } });
});

test.each([
  { title: 'false', given: false },
  { title: 'null', given: null },
  { title: 'an unknown word', given: { kind: 'approve', ...said } },
  { title: 'a cancellation', given: { kind: 'cancelled', ...said } },
  { title: 'a decision of nobody', given: { kind: 'approved', args: null } },
  { title: 'an answer without a result', given: { kind: 'responded', ...said } },
  { title: 'empty arguments', given: { kind: 'approved', args: '', ...said } },
  { title: 'arguments that are none', given: { kind: 'approved', args: [1], ...said } },
])('$title is no decision: the call waits, and the reason is reported', async ({ given }) => {
  const desk = await openDesk(spec);
  const paused = await desk.run(step, {}, saying(given));
  expect(paused).toMatchObject({ status: 'pending', pending: [{ tool: 'pay' }] });
  expect(desk.events).toContainEqual(
    expect.objectContaining({ type: 'note', name: pendingOf(paused), level: 'warn' }),
  );
});

test.each(['', ' ', 'null', null])('%j is no edit of arguments: the call still waits', async (args) => {
  const desk = await openDesk(spec);
  const id = pendingOf(await desk.run(step));
  await expect(desk.runtime.pending.approve(id, { by: 'mara', args })).rejects.toMatchObject({
    code: 'ARGS_INVALID',
  });
  expect(await desk.runtime.pending.show(id)).toMatchObject({ status: 'open' });
});

test('an answer without a result, and a decision without a name, are USAGE', async () => {
  const desk = await openDesk(spec);
  const id = pendingOf(await desk.run(step));
  const nobody = {} as { by: string };
  const { pending } = desk.runtime;
  await expect(pending.respond(id, { by: 'mara', result: undefined })).rejects.toMatchObject({
    code: 'USAGE',
  });
  await expect(pending.approve(id, nobody)).rejects.toMatchObject({ code: 'USAGE' });
  await expect(pending.reject(id, nobody)).rejects.toMatchObject({ code: 'USAGE' });
  expect(await pending.show(id)).toMatchObject({ status: 'open' });
});
