import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../src/base/errors.ts';
import type { RunDocument } from '../../src/contract/run.ts';
import { type Desk, openDesk, pendingOf, recording } from './desk.ts';
import { openFuse } from './fuse.ts';

const spec = `
tools:
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
  pay: {approval: required, exec: ${recording('answers', 'payments', '{"result": "paid"}')}}
  lose: {exec: {command: /bin/sh, args: [-c, 'rm -r $folder/.signalbox && echo {\\"result\\":1}']}}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, repeat: true, tool_calls: [{name: note}, {name: pay, args: {n: 2}}]}
        - {when: round == 2, repeat: true, text: done}
`;

const pipeline = `
steps:
  - {id: one, tool: note}
  - {id: first, tool: pay, args: {n: 1}}
  - {id: answer, chat: {provider: main, messages: Hello., tools: [note, pay]}}
output: \${steps.answer.text}
`;

async function refusalOf(work: Promise<unknown>): Promise<RuntimeError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(RuntimeError);
    return error instanceof RuntimeError ? error : undefined;
  }
}

async function approveAll({ runtime }: Desk): Promise<void> {
  for (const { id } of await runtime.pending.list()) await runtime.pending.approve(id, { by: 'mara' });
}

/** Starts or resumes the desk's run, and works until it waits or ends. */
async function goOn(desk: Desk): Promise<RunDocument> {
  const [run] = await desk.runtime.runs.list();
  return run === undefined ? await desk.run(pipeline) : await desk.runtime.runs.resume(run.run_id);
}

/** Fails the store after 0, 1, 2 … writes of `work`, until it succeeds. `after` checks each attempt. */
async function atEveryWrite(
  prepare: () => Promise<Desk>,
  work: (desk: Desk) => Promise<unknown>,
  after: (desk: Desk, refusal: RuntimeError | undefined) => Promise<void>,
): Promise<number> {
  for (let writes = 0; ; writes += 1) {
    const desk = await prepare();
    const fuse = openFuse(desk.folder);
    fuse.blowAfter(writes);
    const refusal = await refusalOf(work(desk));
    fuse.repair();
    await after(desk, refusal);
    await desk.runtime.close();
    if (refusal === undefined) return writes;
  }
}

function toldOf({ events }: Desk): string[] {
  return events.flatMap((event) => (event.type === 'pending.opened' ? [event.id] : []));
}

async function openWithStore(): Promise<Desk> {
  const desk = await openDesk(spec);
  await desk.runtime.runs.list();
  return desk;
}

test('a store fault at any point before the approval prevents the payment, and the run continues later [DS-RUN-07 PK-8-04]', async () => {
  const writes = await atEveryWrite(
    openWithStore,
    (desk) => desk.run(pipeline),
    async (desk, refusal) => {
      expect(refusal?.code ?? 'STORE_FAILED').toBe('STORE_FAILED');
      expect(desk.lines('payments')).toEqual([]);
      const [run] = await desk.runtime.runs.list();
      expect(refusal?.details['run_id'] ?? run?.run_id).toBe(run?.run_id);
      // A pending call is stored completely or not at all, and every reported one is found.
      const before = await desk.runtime.pending.list();
      expect(before.map(({ id }) => id)).toEqual(expect.arrayContaining(toldOf(desk)));
      const paused = await goOn(desk);
      expect(paused).toMatchObject({ status: 'pending', pending: [{ step: 'first/call' }] });
      expect(before.map(({ id }) => id)).toEqual(before.length === 0 ? [] : [pendingOf(paused)]);
      expect(desk.lines('notes').length).toBeLessThanOrEqual(2);
      expect(desk.lines('payments')).toEqual([]);
      await approveAll(desk);
      expect(await goOn(desk)).toMatchObject({ status: 'pending', pending: [{ tool: 'pay' }] });
      await approveAll(desk);
      expect(await goOn(desk)).toMatchObject({ status: 'completed', output: 'done' });
    },
  );
  expect(writes).toBeGreaterThanOrEqual(8);
});

test('a store fault at any point after an approval allows no unapproved payment, and the run continues later [DS-RUN-07]', async () => {
  const prepare = async () => {
    const desk = await openWithStore();
    await desk.run(pipeline);
    return desk;
  };
  const work = async (desk: Desk) => {
    await approveAll(desk);
    await goOn(desk);
    await approveAll(desk);
    await goOn(desk);
  };
  const writes = await atEveryWrite(prepare, work, async (desk, refusal) => {
    expect(refusal?.code ?? 'STORE_FAILED').toBe('STORE_FAILED');
    const kept = await desk.runtime.pending.list({ all: true });
    expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(toldOf(desk)));
    for (let turn = 0; turn < 3; turn += 1) {
      await approveAll(desk);
      await goOn(desk);
    }
    expect(await goOn(desk)).toMatchObject({ status: 'completed', output: 'done' });
    const payments = desk.lines('payments').map((line) => JSON.parse(line));
    expect(payments.filter(({ approval }) => approval?.decision !== 'approved')).toEqual([]);
    // Each payment happens once, and once more if only its outcome was not stored.
    const counts = [1, 2].map((n) => payments.filter(({ args }) => args.n === n).length);
    expect(Math.min(...counts)).toBe(1);
    expect(payments.length).toBeLessThanOrEqual(3);
  });
  expect(writes).toBeGreaterThanOrEqual(15);
});

test('a store fault during a single call fails it, and nobody can approve it later [PK-8-04]', async () => {
  const writes = await atEveryWrite(
    openWithStore,
    async (desk) => {
      const document = await desk.runtime.tools.call('pay', { n: 1 });
      if (document.status === 'failed') throw new RuntimeError(document.error.code, document.error.message);
      expect(document).toMatchObject({ status: 'pending' });
    },
    async (desk, refusal) => {
      expect(refusal?.code ?? 'STORE_FAILED').toBe('STORE_FAILED');
      expect(desk.lines('payments')).toEqual([]);
      expect(await desk.runtime.pending.list()).toHaveLength(refusal === undefined ? 1 : 0);
      const told = desk.events.filter(({ type }) => type === 'pending.opened');
      expect(told).toHaveLength(refusal === undefined ? 1 : 0);
    },
  );
  expect(writes).toBeGreaterThanOrEqual(4);
});

test('a decision that cannot be stored has no effect: the call still waits', async () => {
  const desk = await openDesk(spec);
  const id = pendingOf(await desk.run(pipeline));
  const fuse = openFuse(desk.folder);
  fuse.blowAfter(0);
  const { pending } = desk.runtime;
  for (const decide of [
    () => pending.approve(id, { by: 'mara' }),
    () => pending.reject(id, { by: 'mara' }),
    () => pending.respond(id, { by: 'mara', result: 1 }),
  ]) {
    await expect(decide()).rejects.toMatchObject({ code: 'STORE_FAILED' });
  }
  fuse.repair();
  expect(await pending.show(id)).toMatchObject({ status: 'open', by: null });
});

test('without an open store no run starts, and no call waits', async () => {
  const desk = await openDesk(spec);
  mkdirSync(join(desk.folder, '.signalbox/state.db'), { recursive: true });
  await expect(desk.run(pipeline)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(await desk.runtime.tools.call('pay', {})).toMatchObject({
    status: 'failed',
    error: { code: 'STORE_FAILED' },
  });
  expect([...desk.lines('notes'), ...desk.lines('payments')]).toEqual([]);
  // The store is opened again as soon as possible.
  rmSync(join(desk.folder, '.signalbox'), { recursive: true });
  expect(await desk.run(pipeline)).toMatchObject({ status: 'pending' });
});

test('a store that is removed during a run stops it, and the runtime closes', async () => {
  const desk = await openDesk(spec);
  const running = desk.run('steps: [{id: one, tool: lose}, {id: two, tool: note}]\n');
  await expect(running).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await desk.runtime.close();
  expect(desk.lines('notes')).toEqual([]);
});
