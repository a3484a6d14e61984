import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileSchema } from '../../../src/base/yaml/schema-check.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';
import type { CallableTool, CallContext } from '../../../src/calls/tool-call/callable-tool.ts';
import { filterApproved, prepareDecidedCall } from '../../../src/calls/tool-call/pending-call.ts';
import type { PendingDecision, PendingOrigin } from '../../../src/contract/approval.ts';
import { type Answer, answers, type HookEvent } from '../../../src/contract/hook.ts';
import { ok } from '../../../src/contract/tool.ts';
import { newCall } from '../../store/examples.ts';
import { openCalls } from './played-calls.ts';

const json = (text: string) => new Json(text);
const said = { by: 'mara', reason: 'fine' };
const approved = { kind: 'approved', args: null, ...said } as const;

interface Waiting {
  readonly origin?: PendingOrigin;
  readonly args?: string;
  /** The model's arguments. Default: the pending ones. */
  readonly asked?: unknown;
  /** Arguments from an earlier edit. */
  readonly edited?: string;
  readonly context?: CallContext;
}

function prepare(tool: CallableTool, ruling: PendingDecision, waiting: Waiting = {}) {
  const { origin = 'tool', args = '{"amount":10}', asked = args, edited, context } = waiting;
  const more = { origin, args: json(args), hook: origin === 'hook' ? 'guard' : null };
  const record = { ...newCall('p1', 'r1', more), ruling, decidedAt: 3_000 };
  const own = ruling.kind === 'approved' ? (ruling.args?.text ?? edited) : edited;
  const approvals = origin === 'hook' ? [{ hook: 'guard', args: json(own ?? args) }] : [];
  const decided = { record, editedArgs: own === undefined ? null : json(own), approvals };
  return prepareDecidedCall({ tool, args: asked }, decided, context);
}

const done = ok(json('"done"'));

test.each([
  { ...said, kind: 'rejected', code: 'REJECTED', says: 'was rejected by mara: fine', content: ': fine' },
  { by: '', reason: '', kind: 'rejected', code: 'REJECTED', says: 'was rejected', content: '' },
  { ...said, kind: 'cancelled', code: 'REJECTED', says: 'was rejected by mara: fine', content: ': fine' },
] as const)('a call that was $kind by "$by" does not run', async ({ code, says, content, ...ruling }) => {
  const { tool, heard, filter } = openCalls();
  const pay = tool('pay', done, { links: [filter('guard', answers.allow())] });
  const { stopped, finish } = await prepare(pay, ruling);
  expect(stopped).toMatchObject({ callId: 'call-1', metadata: json('{}') });
  expect(stopped?.outcome).toMatchObject({
    status: 'failed',
    error: { code, message: `tool "pay" ${says}` },
  });
  expect(stopped?.content).toBe(`Tool "pay" was rejected${content}`);
  expect(await finish()).toBe(stopped);
  expect(heard).toEqual([]);
});

test('a call without a decision in time does not run', async () => {
  const { tool, heard } = openCalls();
  const { stopped, finish } = await prepare(tool('pay', done), { kind: 'expired' });
  expect(stopped?.outcome).toMatchObject({ status: 'failed', error: { code: 'PENDING_EXPIRED' } });
  expect(stopped?.callId).toBe('call-1');
  expect(await finish()).toBe(stopped);
  expect(heard).toEqual([]);
});

test('an approved call runs once it is finished, with the approval, as the same call', async () => {
  const { tool, ran } = openCalls();
  const prepared = await prepare(tool('pay', done, { idempotent: true }), approved);
  expect([prepared.stopped, ran.length]).toEqual([undefined, 0]);
  expect((await prepared.finish()).outcome).toEqual(done);
  const approval = { id: 'p1', decision: 'approved', ...said };
  const { call } = ran[0] ?? {};
  expect(call).toMatchObject({ name: 'pay', callId: 'call-1', args: json('{"amount":10}'), approval });
  expect(call?.idempotencyKey).toBe('call-1#p1');
  await (
    await prepare(tool('pay', done, { idempotent: true }), approved, { context: { idempotencyKey: 'k' } })
  ).finish();
  expect(ran[1]?.call.idempotencyKey).toBe('k#p1');
});

const asks = (event: HookEvent): Answer =>
  event.phase === 'before_execution'
    ? answers.modify({ args: json('{"amount":10,"seen":1}') })
    : answers.allow();

test.each([
  { origin: 'tool', heard: [], args: '{"amount":10}' },
  { origin: 'approval', heard: [], args: '{"amount":10}' },
  { origin: 'interrupted', heard: ['guard before_execution'], stopped: 'approval' },
  { origin: 'hook', heard: ['guard before_execution'], stopped: 'approval' },
] as const)(
  'a call that waited because of $origin is asked about again: $heard',
  async ({ origin, ...expected }) => {
    const calls = openCalls();
    const approval = compileApproval('pay', {});
    const links = [calls.hooks('guard', { before_execution: asks })];
    const { stopped, finish } = await prepare(calls.tool('pay', done, { links, approval }), approved, {
      origin,
    });
    await finish();
    expect(calls.heard.filter((each) => each !== 'pay runs')).toEqual(expected.heard);
    expect(calls.ran[0]?.call.args.text).toBe('args' in expected ? expected.args : undefined);
    if (!('stopped' in expected)) return;
    // A filter changed the approved arguments.
    expect(stopped?.outcome).toMatchObject({
      status: 'pending',
      origin: 'approval',
      args: json('{"amount":10,"seen":1}'),
    });
  },
);

test('a call passes without a further question if filters leave the approved arguments unchanged', async () => {
  const { tool, hooks, ran } = openCalls();
  const spelt = (text: string) => answers.modify({ args: json(text) });
  const pay = (text: string) =>
    tool('pay', done, {
      links: [hooks('guard', { before_execution: spelt(text) })],
      approval: compileApproval('pay', {}),
    });
  const waiting = { origin: 'hook', args: '{"amount":10,"seen":1}', asked: '{"amount":10}' } as const;
  await (await prepare(pay('{"amount":10, "seen":1}'), approved, waiting)).finish();
  // The tool gets exactly the text that the person saw.
  expect(ran.splice(0).map(({ call }) => call.args.text)).toEqual(['{"amount":10,"seen":1}']);
  const other = await prepare(pay('{"amount":11}'), approved, waiting);
  expect(other.stopped?.outcome).toMatchObject({ status: 'pending', args: json('{"amount":11}') });
  expect(ran).toEqual([]);
});

test('arguments that filters have changed since are accepted if the config requires no approval', async () => {
  const { tool, hooks, ran } = openCalls();
  const links = [hooks('guard', { before_execution: asks })];
  await (await prepare(tool('pay', done, { links }), approved, { origin: 'hook' })).finish();
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"amount":10,"seen":1}']);
});

test('a filter that denies an approved call takes precedence', async () => {
  const { tool, hooks, ran } = openCalls();
  const links = [hooks('guard', { before_execution: answers.deny('no') })];
  const approval = compileApproval('pay', {});
  const { stopped, finish } = await prepare(tool('pay', done, { links, approval }), approved, {
    origin: 'hook',
  });
  expect(stopped?.outcome).toMatchObject({ status: 'denied', hook: 'guard', reason: 'no' });
  expect(await finish()).toBe(stopped);
  // A denied change does not lead to a new question.
  const changed = tool('pay', done, {
    links: [hooks('mask', { before_execution: asks }), ...links],
    approval,
  });
  const again = await prepare(changed, approved, { origin: 'hook' });
  expect(again.stopped?.outcome).toMatchObject({ status: 'denied', hook: 'guard' });
  expect(ran).toEqual([]);
});

test('an approved question no longer stops the call, but another does', async () => {
  const { tool, hooks, ran } = openCalls();
  const asking = (name: string) => hooks(name, { before_execution: answers.ask('sure?') });
  const calling = async (name: string) =>
    await (
      await prepare(tool('pay', done, { links: [asking(name)] }), approved, { origin: 'hook' })
    ).finish();
  expect((await calling('guard')).outcome).toEqual(done);
  expect((await calling('other')).outcome).toMatchObject({ status: 'pending', hook: 'other' });
  expect(ran).toHaveLength(1);
});

test('edited arguments pass the filters, and fit the schema, whatever the reason of the wait', async () => {
  const { tool, hooks, ran, heard } = openCalls();
  const checkArgs = compileSchema({ properties: { amount: { maximum: 50 } } });
  const pay = tool('pay', done, {
    checkArgs,
    links: [hooks('guard', { before_execution: answers.allow() })],
  });
  const edit = (text: string) => prepare(pay, { ...approved, args: json(text) });
  const { stopped } = await edit('{"amount":51}');
  expect(stopped?.outcome).toMatchObject({ status: 'failed', error: { code: 'ARGS_INVALID' } });
  expect([stopped?.callId, heard]).toEqual(['call-1', []]);
  await (await edit('{"amount":50}')).finish();
  expect(heard).toEqual(['guard before_execution', 'pay runs']);
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"amount":50}']);
});

test('a later question shows arguments edited at an earlier one', async () => {
  const { tool, hooks, ran } = openCalls();
  const pay = tool('pay', done, { links: [hooks('other', { before_execution: answers.allow() })] });
  const waiting = {
    origin: 'hook',
    args: '{"amount":5}',
    asked: '{"amount":10}',
    edited: '{"amount":5}',
  } as const;
  await (await prepare(pay, approved, waiting)).finish();
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"amount":5}']);
});

test('an object that no model sent is read unchanged, in the host-only form', async () => {
  const { tool, hooks, ran } = openCalls();
  const isDirect = () => true;
  const pay = tool('pay', done, { isDirect, links: [hooks('other', { before_execution: answers.allow() })] });
  const waiting = { origin: 'hook', args: '{"args":[1]}', asked: { args: [1] } } as const;
  await (await prepare(pay, approved, waiting)).finish();
  expect(ran.map(({ call }) => call.args.text)).toEqual(['{"args":[1]}']);
});

test('filters can be applied to an approved call without running it', async () => {
  const { tool, hooks, heard } = openCalls();
  const call = {
    tool: tool('pay', done, { links: [hooks('g', { before_execution: answers.deny('no') })] }),
    callId: 'c',
  };
  const pending = newCall('p1', 'r1', { args: json('{"amount":10}') });
  const given = { decision: approved, asked: json('{"amount":10}'), approvals: [] };
  expect(await filterApproved(call, { ...given, pending })).toMatchObject({ args: pending.args });
  expect(heard).toEqual([]);
  const again = await filterApproved(call, { ...given, pending: { ...pending, origin: 'hook' } });
  expect(again.stopped?.outcome).toMatchObject({ status: 'denied' });
  const broken = await filterApproved(call, {
    ...given,
    asked: '[1]',
    pending: { ...pending, origin: 'hook' },
  });
  expect(broken).toMatchObject({
    args: pending.args,
    stopped: { callId: 'c', outcome: { status: 'failed' } },
  });
});

test('a person’s result replaces the tool’s: it fits the output schema, and filters see it in turn', async () => {
  const { tool, hooks, heard, at, ran } = openCalls();
  const links = [hooks('guard', { after_execution: answers.deny('secret') })];
  const checkResult = compileSchema({ type: 'string' });
  const pay = tool('pay', done, { links, checkResult });
  const respond = (result: string, context: CallContext = {}) =>
    prepare(pay, { kind: 'responded', result: json(result), ...said }, { context });
  const waitForResults = async () => void heard.push('waited');
  const given = await respond('"paid"', { waitForResults });
  expect([given.stopped, heard]).toEqual([undefined, []]);
  expect((await given.finish()).outcome).toMatchObject({ status: 'denied', reason: 'secret' });
  expect(heard).toEqual(['waited', 'guard after_execution']);
  expect(at('after_execution')?.event).toMatchObject({
    request: { args: json('{"amount":10}') },
    response: { content: 'paid', error: '', latency_ms: 0 },
  });
  await (await respond('1')).finish();
  expect(at('after_execution')?.event).toMatchObject({
    response: { error: expect.stringContaining('output_schema') },
  });
  expect(ran).toEqual([]);
  const free = await prepare(tool('pay', done, { checkResult }), {
    kind: 'responded',
    result: json('1'),
    ...said,
  });
  expect((await free.finish()).outcome).toMatchObject({
    status: 'failed',
    error: { code: 'RESULT_INVALID' },
  });
});
