import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import { stringifyJson } from '../../src/base/json/json.ts';
import { compileApproval } from '../../src/calls/tool-call/approvals.ts';
import type { CallableTool } from '../../src/calls/tool-call/callable-tool.ts';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import type { CallOptions, PendingCallNotice } from '../../src/runtime/api.ts';
import { callDirectly } from '../../src/runtime/direct-call.ts';
import { type LazyStore, lazyStore } from '../../src/runtime/lazy-store.ts';
import { answering, newRecord, openBench } from '../calls/capability/bench.ts';
import { onTransports } from '../cite.ts';
import { asking, giving, refund } from '../pipelines/refund.ts';

interface Alone {
  readonly store: LazyStore;
  readonly told: readonly RuntimeEvent[];
  call(tool: CallableTool, args: unknown, options?: CallOptions): ReturnType<typeof callDirectly>;
}

function openAlone(store: LazyStore = lazyStore({ type: 'memory' })): Alone {
  const told: RuntimeEvent[] = [];
  const take = (event: RuntimeEvent) => {
    told.push(event);
  };
  const emit = Object.assign(take, { hears: (type: string) => !type.startsWith('operation.') });
  onTestFinished(() => store.close());
  const place = {
    store,
    config: '/etc/desk/runtime.yaml',
    emit,
    buildOf: Object.assign(() => '', { programs: () => ({}) }),
    isDurable: false,
    clean: <Result>(document: Result) => document,
    fail: (thrown: unknown): never => {
      throw thrown;
    },
  };
  return { store, told, call: (tool, args, options = {}) => callDirectly(place, { tool, args }, options) };
}

const approval = { decision: 'approved', by: 'mara', reason: 'looks fine' } as const;

function approving(pauses: PendingCallNotice[]): CallOptions['approve'] {
  return async (pause) => {
    pauses.push(pause);
    return { id: pause.id, ...approval };
  };
}

test.each(onTransports([{ title: 'beside the args', cites: 'PK-4-02@both' }]))(
  'an approved tool is called again with the approval $title',
  async ({ on }) => {
    const bench = openBench();
    const pauses: PendingCallNotice[] = [];
    const after = newRecord();
    const links = [
      bench.links.filter({
        ...answering('oneshot', '{"allow": true}'),
        name: 'before',
        phases: ['before_execution'],
      }),
      bench.links.filter({
        ...answering('oneshot', '{"allow": true}'),
        name: 'after',
        env: after.env,
        phases: ['after_execution'],
      }),
    ];
    const args = '{ "amount":12345678901234567890 }';
    const { call, told } = openAlone();
    const document = await call(refund(bench, asking[on], { links }), args, {
      callId: 'call_1',
      approve: approving(pauses),
    });
    const [pause] = pauses;
    expect(pauses).toEqual([
      {
        id: expect.stringMatching(/^pending_./),
        tool: 'refund',
        callId: 'call_1',
        reason: 'requires_approval',
        message: 'Refund 250 EUR?',
      },
    ]);
    const request = `{"args":${args},"approval":{"id":"${pause?.id}","decision":"approved","by":"mara","reason":"looks fine"}}`;
    expect(stringifyJson(document)).toBe(`{"status":"ok","result":${request}}`);
    expect(after.lines()).toHaveLength(1);
    expect(bench.started().filter((name) => name !== 'refund')).toEqual(['before', 'after']);
    expect(told).toEqual([]);
  },
);

const waiting = {
  status: 'pending',
  pending: {
    id: expect.stringMatching(/^pending_./),
    run_id: expect.stringMatching(/^run_./),
    reason: 'requires_approval',
    message: 'Refund 250 EUR?',
  },
};

const unapproved: readonly {
  title: string;
  approve: NonNullable<CallOptions['approve']>;
  document: object;
}[] = [
  { title: 'nobody approves', approve: async () => undefined, document: waiting },
  {
    title: 'asking fails',
    approve: async () => Promise.reject(new Error('the terminal is gone')),
    document: { status: 'failed', error: { code: 'INTERNAL', message: 'the terminal is gone' } },
  },
  {
    title: 'asking fails with an error of ours',
    approve: () => {
      throw new RuntimeError('ABORTED', 'given up');
    },
    document: { status: 'failed', error: { code: 'ABORTED', message: 'given up' } },
  },
];

test.each(unapproved)('where $title, the tool is not called again', async ({ approve, document }) => {
  const bench = openBench();
  const { call } = openAlone();
  expect(await call(refund(bench, asking.oneshot), '{}', { approve })).toMatchObject(document);
  expect(bench.started()).toEqual(['refund']);
});

test('an approved tool that asks again is pending', async () => {
  const pauses: PendingCallNotice[] = [];
  const tool = refund(openBench(), answering('oneshot', '{"pending": {"message": "Really?"}}'));
  const document = await openAlone().call(tool, '{}', { approve: approving(pauses) });
  expect(document).toEqual({
    status: 'pending',
    pending: { ...waiting.pending, reason: '', message: 'Really?' },
  });
  expect(pauses).toHaveLength(1);
});

test('nobody is asked about a tool that needs no approval', async () => {
  const pauses: PendingCallNotice[] = [];
  const options = { approve: approving(pauses) };
  const bench = openBench();
  const { call } = openAlone();
  const deny = bench.links.filter({ ...answering('oneshot', '{"allow": false}'), name: 'limit' });
  await call(refund(bench, giving('oneshot', '1')), '{}', options);
  await call(refund(bench, { runs: ['crash.sh'] }), '{}', options);
  await call(refund(bench, asking.oneshot, { links: [deny] }), '{}', options);
  expect(pauses).toEqual([]);
});

test('a waiting call is a complete run in the store, and is reported once it is stored', async () => {
  const { store, told, call } = openAlone();
  const args = '{ "amount":12345678901234567890 }';
  const document = await call(refund(openBench(), asking.oneshot), args, { callId: 'call_1' });
  expect(document).toEqual(waiting);
  const opened = await store.open();
  const [pending] = await opened.listPendings({ open: true }, Date.now());
  const [run] = await opened.listRuns();
  expect(pending).toEqual({
    id: expect.stringMatching(/^pending_[0-9a-f]{16}$/),
    runId: run?.id,
    step: 'call/call',
    callId: 'call_1',
    tool: 'refund',
    args: expect.objectContaining({ text: args }),
    origin: 'tool',
    hook: null,
    reason: 'requires_approval',
    message: 'Refund 250 EUR?',
    members: expect.objectContaining({ text: expect.stringContaining('"ticket":12345678901234567890') }),
    previous: null,
    createdAt: expect.any(Number),
    expiresAt: null,
    ruling: null,
    decidedAt: null,
  });
  expect(run).toMatchObject({ kind: 'tool', name: 'refund', file: null, status: 'pending' });
  expect(told).toEqual([
    {
      type: 'pending.opened',
      id: pending?.id,
      run: run?.id,
      step: 'call/call',
      tool: 'refund',
      reason: 'requires_approval',
      message: 'Refund 250 EUR?',
    },
  ]);
});

test('a person answers each question of one call, and each only once', async () => {
  const bench = openBench();
  const ask = (name: string) =>
    bench.links.filter({
      ...answering('oneshot', `{"allow": false, "ask": true, "reason": "${name} is unsure"}`),
      name,
      phases: ['before_execution'],
    });
  const pauses: PendingCallNotice[] = [];
  const tool = refund(bench, giving('oneshot', '1'), { links: [ask('one'), ask('two')] });
  const document = await openAlone().call(tool, '{}', { approve: approving(pauses) });
  expect(document).toEqual({ status: 'ok', result: 1 });
  expect(pauses.map(({ reason }) => reason)).toEqual(['one is unsure', 'two is unsure']);
  expect(new Set(pauses.map(({ callId }) => callId)).size).toBe(1);
  expect(bench.started()).toEqual(['one', 'one', 'two', 'one', 'two', 'refund']);
});

test('a required approval of the config is requested before the tool runs', async () => {
  const bench = openBench();
  const approval = compileApproval('refund', { message: 'Refund $' + '{args.amount}?' });
  const tool = refund(bench, giving('oneshot', '1'), { approval });
  const { call } = openAlone();
  const document = await call(tool, { amount: 5 });
  const pending = { ...waiting.pending, reason: 'the config requires approval', message: 'Refund 5?' };
  expect(document).toEqual({ status: 'pending', pending });
  expect(bench.started()).toEqual([]);
  expect(await call(tool, { amount: 5 }, { approve: approving([]) })).toEqual({ status: 'ok', result: 1 });
});

const broken = [
  { title: 'cannot be opened', file: (folder: string) => folder },
  { title: 'is not a database', file: (folder: string) => join(folder, 'state.db') },
];

test.each(broken)('where the store $title, a call that would wait has failed', async ({ file }) => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  mkdirSync(join(folder, 'state.db'));
  const bench = openBench();
  const { call, told } = openAlone(lazyStore({ type: 'sqlite', file: file(folder) }));
  const approval = compileApproval('refund', {});
  const document = await call(refund(bench, giving('oneshot', '1'), { approval }), '{}');
  expect(document).toMatchObject({ status: 'failed', error: { code: 'STORE_FAILED' } });
  expect(bench.started()).toEqual([]);
  expect(told).toEqual([]);
});

test('a call without a question needs no store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const { call } = openAlone(lazyStore({ type: 'sqlite', file: folder }));
  expect(await call(refund(openBench(), giving('oneshot', '1')), '{}')).toEqual({ status: 'ok', result: 1 });
});

const noApproval = [
  { title: 'a rejection', given: { id: 'x', decision: 'rejected', by: 'mara', reason: 'no' } },
  { title: 'false', given: false },
  { title: 'true', given: true },
  { title: 'null', given: null },
  { title: 'an empty object', given: {} },
  { title: 'an approval by nobody', given: { id: 'x', decision: 'approved', reason: '' } },
];

test.each(noApproval)('$title is no approval: the tool does not run', async ({ given }) => {
  const bench = openBench();
  const { call } = openAlone();
  // A value that a caller without types may pass.
  const approve = (async () => given) as unknown as NonNullable<CallOptions['approve']>;
  const tool = { ...refund(bench, giving('oneshot', '1')), approval: compileApproval('refund', {}) };
  expect(await call(tool, '{}', { approve })).toMatchObject({ status: 'failed', error: { code: 'USAGE' } });
  expect(bench.started()).toEqual([]);
});
