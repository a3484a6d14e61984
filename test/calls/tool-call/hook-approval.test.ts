import { expect, test } from 'vitest';
import type { RunDocument } from '../../../src/contract/run.ts';
import { stringifyJson } from '../../../src/index.ts';
import { type Desk, hookRecording, openDesk, outline, pendingOf, recording } from '../../pipelines/desk.ts';

const asks = (reason: string) => `{"allow": false, "ask": true, "reason": "${reason}"}`;

/** A tool that records its arguments. Each hook is one line of YAML. */
function specOf(hooks: readonly string[], more = ''): string {
  const lines = hooks.map((hook) => `  ${hook.replace('{', '{hook: tool, phases: [before_execution], ')}\n`);
  return `
state_store: {type: memory}
tools:
  refund:
    input_schema: {properties: {amount: {type: integer, maximum: 1000}}}
    exec: ${recording('answers', 'requests', '{"result": "done"}')}
    ${more}
${hooks.length === 0 ? '' : 'hooks:\n'}${lines.join('')}`;
}

const asking = (name: string, reason = `${name} is unsure`) =>
  `${name}: {${hookRecording('answers', name, asks(reason))}}`;

const refundOf = (amount: string) => `
steps: [{id: refund, tool: refund, args: {amount: ${amount}}}]
output: \${steps.refund}
`;

async function approve(desk: Desk, run: RunDocument, args?: unknown): Promise<RunDocument> {
  await desk.runtime.pending.approve(pendingOf(run), { by: 'mara', reason: 'fine', args });
  return await desk.runtime.runs.resume(run.run_id);
}

async function question(desk: Desk, run: RunDocument) {
  const { origin, hook, reason, message, args, previous } = await desk.runtime.pending.show(pendingOf(run));
  return { origin, hook, reason, message, args, previous };
}

test('a hook asks, the tool waits, and runs when a person approves; no question is repeated [DS-ASK-02]', async () => {
  const desk = await openDesk(specOf([asking('limit', 'a lot')]));
  const paused = await desk.run(refundOf('250'));
  expect(outline(paused)).toEqual(['refund tool pending']);
  expect(await question(desk, paused)).toEqual({
    origin: 'hook',
    hook: 'limit',
    reason: 'a lot',
    message: 'Hook "limit" asks whether tool "refund" may run.',
    args: { amount: 250 },
    previous: null,
  });
  expect(desk.lines('requests')).toEqual([]);
  const end = await approve(desk, paused);
  expect(end).toMatchObject({ status: 'completed', output: { status: 'ok', result: 'done' } });
  const approval = `{"id":"${pendingOf(paused)}","decision":"approved","by":"mara","reason":"fine"}`;
  expect(desk.lines('requests')).toEqual([`{"args":{"amount":250},"approval":${approval}}`]);
});

test('a rejected hook’s question is never put to the tool', async () => {
  const desk = await openDesk(specOf([asking('limit')]));
  const paused = await desk.run(refundOf('250'));
  await desk.runtime.pending.reject(pendingOf(paused), { by: 'mara', reason: 'no' });
  const end = await desk.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({ status: 'failed', error: { code: 'REJECTED' } });
  expect(desk.lines('requests')).toEqual([]);
});

test('two hooks that ask are answered one after another, and each runs again only for its own question [DS-ASK-02]', async () => {
  const desk = await openDesk(specOf([asking('one'), asking('two')]));
  const first = await desk.run(refundOf('250'));
  expect(await question(desk, first)).toMatchObject({ hook: 'one', previous: null });
  const second = await approve(desk, first);
  expect(await question(desk, second)).toMatchObject({ hook: 'two', previous: pendingOf(first) });
  expect(desk.lines('requests')).toEqual([]);
  const end = await approve(desk, second);
  expect(end).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests')).toHaveLength(1);
});

test('an approval is void once the arguments are edited: the other hooks ask again [DS-ASK-02]', async () => {
  const desk = await openDesk(specOf([asking('one'), asking('two')]));
  const first = await desk.run(refundOf('250'));
  const second = await approve(desk, first);
  // The second question is answered with different arguments, which the first hook has not seen.
  const third = await approve(desk, second, { amount: 99 });
  expect(await question(desk, third)).toMatchObject({ hook: 'one', args: { amount: 99 } });
  expect(desk.lines('requests')).toEqual([]);
  const end = await approve(desk, third);
  expect(end).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests').map((line) => JSON.parse(line).args)).toEqual([{ amount: 99 }]);
});

test('edited arguments pass every hook again, and one of them may deny [PK-8-06@oneshot]', async () => {
  const desk = await openDesk(
    specOf([`limit: {${hookRecording('judges-amount.sh', 'x', '100', '500')}}`, asking('audit')]),
  );
  const paused = await desk.run(refundOf('250'));
  expect(await question(desk, paused)).toMatchObject({ hook: 'limit', reason: '250 is a lot' });
  const end = await approve(desk, paused, { amount: 900 });
  expect(end).toMatchObject({ status: 'denied', error: { code: 'DENIED' } });
  expect(end.error?.message).toContain('"limit": 900 is too much');
  expect(desk.lines('requests')).toEqual([]);
});

test('edited arguments that a hook allows at once go to the tool', async () => {
  const desk = await openDesk(specOf([`limit: {${hookRecording('judges-amount.sh', 'x', '100', '500')}}`]));
  const paused = await desk.run(refundOf('250'));
  const end = await approve(desk, paused, { amount: 50 });
  expect(end).toMatchObject({ status: 'completed', output: { result: 'done' } });
  expect(desk.lines('requests').map((line) => JSON.parse(line).args)).toEqual([{ amount: 50 }]);
});

const adding = (name: string, mark: string) =>
  `${name}: {command: $bin/modify-before-execution, args: [${mark}]}`;

test('the waiting arguments are those that the filters left [DS-ASK-05]', async () => {
  const desk = await openDesk(specOf([adding('mask', 'masked'), asking('limit')]));
  const paused = await desk.run(refundOf('250'));
  expect(await question(desk, paused)).toMatchObject({ args: { amount: 250, note: 'masked' } });
  await approve(desk, paused);
  expect(desk.lines('requests').map((line) => JSON.parse(line).args)).toEqual([
    { amount: 250, note: 'masked' },
  ]);
});

const always = 'approval: required';

test('a tool that requires approval waits every time, before it has run [DS-ASK-03]', async () => {
  const desk = await openDesk(specOf([], always));
  const paused = await desk.run(refundOf('250'));
  expect(await question(desk, paused)).toEqual({
    origin: 'approval',
    hook: null,
    reason: 'the config requires approval',
    message: 'Tool "refund" needs approval.',
    args: { amount: 250 },
    previous: null,
  });
  expect(desk.lines('requests')).toEqual([]);
  expect(await approve(desk, paused)).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests')).toHaveLength(1);
  expect(await desk.run(refundOf('250'))).toMatchObject({ status: 'pending' });
});

test('a hook denies before any person is asked', async () => {
  const desk = await openDesk(
    specOf([`limit: {${hookRecording('answers', 'limit', '{"allow": false}')}}`], always),
  );
  expect(await desk.run(refundOf('250'))).toMatchObject({ status: 'denied', pending: [] });
});

test('one approval answers a hook and the config, if both require it', async () => {
  const desk = await openDesk(specOf([asking('limit')], always));
  const paused = await desk.run(refundOf('250'));
  expect(await question(desk, paused)).toMatchObject({ origin: 'hook' });
  expect(await approve(desk, paused)).toMatchObject({ status: 'completed' });
});

test('if filters change an approved call, the config asks about the result [DS-ASK-05]', async () => {
  const desk = await openDesk(specOf([asking('limit'), adding('mask', 'masked')], always));
  const first = await desk.run(refundOf('250'));
  expect(await question(desk, first)).toMatchObject({ origin: 'hook', args: { amount: 250 } });
  const second = await approve(desk, first);
  expect(await question(desk, second)).toMatchObject({
    origin: 'approval',
    args: { amount: 250, note: 'masked' },
    previous: pendingOf(first),
  });
  expect(desk.lines('requests')).toEqual([]);
  expect(await approve(desk, second)).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests').map((line) => JSON.parse(line).args)).toEqual([
    { amount: 250, note: 'masked' },
  ]);
});

test('edited arguments that a filter changes are shown as it left them [DS-ASK-05]', async () => {
  const desk = await openDesk(specOf([adding('mask', 'masked')], always));
  const first = await desk.run(refundOf('250'));
  const second = await approve(desk, first, { amount: 99 });
  expect(await question(desk, second)).toMatchObject({ args: { amount: 99, note: 'masked' } });
  expect(await approve(desk, second)).toMatchObject({ status: 'completed' });
});

const required = 'the config requires approval';

const conditions = [
  { title: 'is true', when: '${args.amount > 100}', amount: '250', reason: required },
  { title: 'is false', when: '${args.amount > 100}', amount: '100', reason: undefined },
  {
    title: 'is true of a long number',
    when: '${args.amount > 12345678901234567889}',
    amount: '12345678901234567890',
    reason: required,
  },
  {
    title: 'fails',
    when: '${args.order.limit > 100}',
    amount: '1',
    reason: expect.stringMatching(/^approval\.when failed: ./),
  },
  {
    title: 'gives a number',
    when: '${args.amount}',
    amount: '0',
    reason: 'approval.when is 0, neither true nor false',
  },
  {
    title: 'gives a text',
    when: '${args.amounts}',
    amount: '0, amounts: "false"',
    reason: 'approval.when is "false", neither true nor false',
  },
  {
    title: 'gives nothing',
    when: '${args.order}',
    amount: '0, order: null',
    reason: 'approval.when is null, neither true nor false',
  },
];

test.each(conditions)('an approval whose `when` $title [DS-ASK-04]', async ({ when, amount, reason }) => {
  const desk = await openDesk(specOf([], `approval: {when: '${when}'}`).replace(', maximum: 1000', ''));
  const end = await desk.run(refundOf(amount));
  const asked = await desk.runtime.pending.list();
  expect(asked.map((each) => each.reason)).toEqual(reason === undefined ? [] : [reason]);
  expect(end.status).toBe(reason === undefined ? 'completed' : 'pending');
  expect(desk.lines('requests')).toHaveLength(reason === undefined ? 1 : 0);
});

test('`when` sees the arguments that the filters left', async () => {
  const desk = await openDesk(
    specOf([adding('mask', 'large')], `approval: {when: '\${args.note == "large"}'}`),
  );
  expect(await desk.run(refundOf('1'))).toMatchObject({ status: 'pending' });
});

const messages = [
  { title: 'with values', message: 'Refund ${args.amount} EUR?', says: 'Refund 250 EUR?' },
  { title: 'that is one value', message: '${args}', says: '{"amount":250}' },
  {
    title: 'that fails',
    message: '${args.order}',
    says: expect.stringMatching(/^Tool "refund" needs approval \(its message failed: /),
  },
];

test.each(messages)('a person sees a message $title', async ({ message, says }) => {
  const desk = await openDesk(specOf([], `approval: {message: '${message}'}`));
  const paused = await desk.run(refundOf('250'));
  expect(paused.pending).toEqual([expect.objectContaining({ message: says })]);
});

const expiring = [
  { title: 'the config', spec: specOf([], 'approval: {expires: 5m}') },
  { title: 'a hook', spec: specOf([asking('limit')], 'approval: {expires: 5m, when: "${false}"}') },
];

test.each(expiring)('a question of $title expires when that of its tool does', async ({ spec }) => {
  const desk = await openDesk(spec);
  const paused = await desk.run(refundOf('250'));
  const { created_at, expires_at } = await desk.runtime.pending.show(pendingOf(paused));
  expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(300_000);
});

const bytes = [
  { title: 'the config', hooks: [], more: always },
  { title: 'a hook', hooks: [asking('limit')], more: '' },
];

test.each(bytes)('a question of $title keeps its digits and bytes', async ({ hooks, more }) => {
  const desk = await openDesk(specOf(hooks, more).replace('amount: {type: integer, maximum: 1000}', ''));
  const args = '{ "amount":12345678901234567890, "rate":1.10 }';
  const kept = await desk.runtime.tools.call('refund', args);
  expect(kept).toMatchObject({ status: 'pending' });
  const [pending] = await desk.runtime.pending.list();
  expect(stringifyJson(pending)).toContain(`"args":${args}`);
  await desk.runtime.pending.approve(pending?.id ?? '', { by: 'mara' });
  const end = await desk.runtime.runs.resume(pending?.run_id ?? '');
  expect(end).toMatchObject({ status: 'completed', output: 'done' });
  expect(desk.lines('requests')).toEqual([expect.stringContaining(`{"args":${args},"approval":`)]);
});

test('the tool gets the approval of a hook’s or the config’s question, and need not ask again', async () => {
  const desk = await openDesk(
    specOf([asking('limit')]).replace(/exec: .*/, `exec: ${recording('pending.sh', 'requests')}`),
  );
  const first = await desk.run(refundOf('250'));
  expect(await approve(desk, first)).toMatchObject({ status: 'completed' });
  const approvals = desk.lines('requests').map((line) => JSON.parse(line).approval.id);
  expect(approvals).toEqual([pendingOf(first)]);
});

test('firing the hooks of a call that one of them questions gives the question', async () => {
  const desk = await openDesk(specOf([asking('limit', 'a lot')]));
  const decision = await desk.runtime.hooks.fire({
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'refund', args: { amount: 250 } },
  });
  expect(decision).toEqual({
    verdict: 'ask',
    hook: 'limit',
    dialect: 'promptkit',
    reason: 'a lot',
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: {},
  });
});
