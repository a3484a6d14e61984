import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { keepAgentCalls } from '../../src/gateway/judge/pending-run.ts';
import { Json, openRuntime, type PendingInfo, type Runtime, RuntimeError } from '../../src/index.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { newCall, newRun } from '../store/examples.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { config, folderOf, pipeline } from '../workspace.ts';

const spec = `
tools:
  pay: {description: pays, approval: required, exec: {command: ./echo.sh}}
  wire: {description: pays much, approval: {by: [mara, joe, ann], quorum: 2}, exec: {command: ./echo.sh}}
  twice: {description: asks twice, approval: required, exec: {command: ./twice.sh}}
`;

const files = {
  'echo.sh': '#!/bin/sh\nprintf \'{"result": {"done": true}}\'\n',
  'twice.sh': `#!/bin/sh
if [ -e asked ]; then printf '{"result": {}}'; exit; fi
touch asked
printf '{"pending": {"reason": "again", "message": "Really?"}}'
`,
  'pair.pipeline.yaml': pipeline(
    'steps: [{id: both, parallel: [{id: a, tool: pay, args: {n: 1}}, {id: b, tool: pay, args: {n: 2}}]}]',
  ),
  'twice.pipeline.yaml': pipeline('steps: [{id: t, tool: twice, args: {}}]'),
  'ask.pipeline.yaml': pipeline('steps: [{id: q, ask: {question: "How much?"}}]'),
};

interface Place {
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  openStore(folder: string): Promise<Store>;
}

describe('decisions in SQLite', () =>
  decisionTests(async () => ({
    state: 'state_store: {type: sqlite, path: state.db}',
    env: {},
    openStore: (folder) => openSqliteStore(join(folder, 'state.db')),
  })));

describe.runIf(hasPostgres)(`decisions in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());
  decisionTests(async () => {
    const url = await server.newUrl('socket');
    return {
      state: 'state_store: {type: postgres, url_env: DESK_URL}',
      env: { DESK_URL: url },
      openStore: () => openPostgresStore(addressOf(url)),
    };
  });
});

function decisionTests(newPlace: () => Promise<Place>): void {
  const openDesk = async () => {
    const { state, env, openStore } = await newPlace();
    const folder = folderOf({ ...files, 'runtime.yaml': config(`${state}${spec}`) });
    const file = join(folder, 'runtime.yaml');
    const open = async () => {
      const runtime = await openRuntime(file, { log: false, env: { ...process.env, ...env } });
      onTestFinished(() => runtime.close());
      return runtime;
    };
    const store = await openStore(folder);
    onTestFinished(() => store.close());
    return { folder, file, open, store, one: await open(), two: await open() };
  };
  const waitingCall = async (runtime: Runtime, tool: string, principal?: string): Promise<PendingInfo> => {
    const document = await runtime.tools.call(
      tool,
      { cents: Math.random() },
      principal === undefined ? {} : { identity: { principal } },
    );
    if (document.status !== 'pending') throw new Error(JSON.stringify(document));
    return await runtime.pending.show(document.pending.id);
  };
  const useOf = async ({ pending }: Runtime, id: string) => (await pending.show(id)).use;
  const errorOf = (settled: PromiseSettledResult<unknown>) => {
    const error: unknown = settled.status === 'rejected' ? settled.reason : undefined;
    return error instanceof RuntimeError ? error : undefined;
  };

  test('of two who decide at once about what they saw, one wins and the other reads who', async () => {
    const { one, two } = await openDesk();
    for (let round = 0; round < 20; round += 1) {
      const { id, digest } = await waitingCall(one, 'pay');
      const settled = await Promise.allSettled([
        one.pending.approve(id, { by: 'mara', digest }),
        round % 2 === 0
          ? two.pending.reject(id, { by: 'joe', digest })
          : two.pending.respond(id, { by: 'joe', digest, result: 1 }),
      ]);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const { status, by } = await one.pending.show(id);
      const lost = settled.map(errorOf).find((error) => error !== undefined);
      expect(lost).toMatchObject({ code: 'PENDING_DECIDED', details: { decision: { id, status, by } } });
      expect(lost?.message).toContain(`${status} by ${by}`);
    }
  });

  test('an approval shown with no other approvals fails when another came in between', async () => {
    const { one, two } = await openDesk();
    for (let round = 0; round < 20; round += 1) {
      const { id, digest } = await waitingCall(one, 'wire');
      const settled = await Promise.allSettled([
        one.pending.approve(id, { by: 'mara', digest }),
        two.pending.approve(id, { by: 'joe', digest }),
      ]);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const { approvals: [{ by: winner = '' } = {}] = [], ...seen } = await two.pending.show(id);
      const lost = settled.map(errorOf).find((error) => error !== undefined);
      expect(lost).toMatchObject({
        code: 'PENDING_CHANGED',
        details: { decision: { approvals: [{ by: winner }] } },
      });
      expect(lost?.message).toContain(`${winner} approved it`);
      expect(seen.status).toBe('open');
      const loser = winner === 'mara' ? 'joe' : 'mara';
      await two.pending.approve(id, { by: loser, digest: seen.digest });
      expect(await one.pending.show(id)).toMatchObject({ status: 'approved', use: 'not_used' });
    }
  });

  test('a rejection or a third approval also fails after an approval that was not shown', async () => {
    const { one } = await openDesk();
    const { id, digest } = await waitingCall(one, 'wire');
    await one.pending.approve(id, { by: 'mara' });
    for (const by of ['joe', 'mara'])
      await expect(one.pending.reject(id, { by, digest })).rejects.toMatchObject({ code: 'PENDING_CHANGED' });
    const seen = await one.pending.show(id);
    expect(seen).toEqual(await one.pending.show(id));
    expect(seen.digest).not.toBe(digest);
    // The same approval again changes nothing.
    await one.pending.approve(id, { by: 'mara', digest: seen.digest });
    await one.pending.reject(id, { by: 'joe', digest: seen.digest });
    expect(await one.pending.show(id)).toMatchObject({ status: 'rejected', by: 'joe', use: null });
    await expect(one.pending.approve(id, { by: 'ann', digest: seen.digest })).rejects.toMatchObject({
      code: 'PENDING_DECIDED',
      details: { decision: { by: 'joe' } },
    });
    await expect(one.pending.approve(id, { by: 'ann', digest: 7 as never })).rejects.toMatchObject({
      code: 'USAGE',
    });
  });

  test('whoever holds the credential of a call cannot decide it', async () => {
    const { one, store, file } = await openDesk();
    const own = { by: 'desk', principal: 'key_1' };
    const { id: plain } = await waitingCall(one, 'pay', 'key_1');
    const { id: inSession } = await waitingCall(one, 'pay', JSON.stringify(['key_1', 'session']));
    const { id: ofOther } = await waitingCall(one, 'pay', JSON.stringify(['key_12', 'key_1']));
    const { id: ofUser } = await waitingCall(one, 'pay', 'local');
    const { id: ofNobody } = await waitingCall(one, 'pay');
    const event = {
      hook: 'tool',
      phase: 'before_execution',
      request: { name: 'pay', args: {}, call_id: 'c' },
    } as const;
    const judged = await one.agents.judge({ ...event, caller: { agent: 'mcp', session: 'key_1', cwd: '' } });
    const proxied = judged.pending?.id ?? '';
    const input = Json.from({ caller: 'desk', endpoint: 'chat', model: 'm' });
    await keepAgentCalls(store, { id: 'run_g', name: 'gateway', config: file, input }, [
      newCall('ofGateway', 'run_g', { tool: 'pay' }),
    ]);
    for (const id of [plain, inSession, proxied, 'ofGateway']) {
      const refused = { code: 'OWN_CALL', message: expect.stringContaining('desk') };
      await expect(one.pending.approve(id, own)).rejects.toMatchObject(refused);
      await expect(one.pending.reject(id, own)).rejects.toMatchObject(refused);
      await expect(one.pending.respond(id, { ...own, result: 1 })).rejects.toMatchObject(refused);
      await one.pending.approve(id, { by: 'mara', principal: 'key_2' });
    }
    for (const id of [ofOther, ofNobody]) await one.pending.approve(id, own);
    await one.pending.approve(ofUser, { by: 'ann', principal: 'local' });
  });

  test('a call with an identity is used when its caller comes back', async () => {
    const { one, two } = await openDesk();
    const identity = { principal: 'key_1', id: 'call_1' };
    const made = await one.tools.call('pay', { cents: 1 }, { identity });
    const id = made.status === 'pending' ? made.pending.id : '';
    expect(await useOf(one, id)).toBeNull();
    await two.pending.approve(id, { by: 'mara' });
    expect(await useOf(one, id)).toBe('not_used');
    await one.tools.call('pay', { cents: 1 }, { identity });
    expect(await useOf(one, id)).toBe('used');
    const left = await waitingCall(one, 'pay', 'key_2');
    await one.pending.respond(left.id, { by: 'mara', result: 1 });
    await one.runs.cancel(left.run_id, { by: 'mara' });
    expect(await useOf(one, left.id)).toBe('expired');
  });

  test('a call of an agent is used by the next same call, or expires', async () => {
    const { one, store } = await openDesk();
    const judge = async (n: number) =>
      await one.agents.judge({
        ...{ hook: 'tool', phase: 'before_execution' },
        request: { name: 'pay', args: { n }, call_id: 'c' },
        caller: { agent: 'claude', session: 's', cwd: '/' },
      });
    const ids: string[] = [];
    for (const n of [1, 2, 3]) ids.push((await judge(n)).pending?.id ?? '');
    const [first = '', second = '', third = ''] = ids;
    await one.pending.approve(first, { by: 'mara' });
    await one.pending.respond(second, { by: 'mara', result: 1 });
    await store.decide(third, { kind: 'approved', args: null, by: 'mara', reason: '' }, Date.now());
    expect([await useOf(one, first), await useOf(one, second)]).toEqual(['not_used', 'not_used']);
    expect((await judge(1)).verdict).toBe('allow');
    expect((await judge(2)).verdict).toBe('deny');
    const { run_id: run } = await one.pending.show(third);
    await one.runs.cancel(run, { by: 'mara' });
    expect([await useOf(one, first), await useOf(one, second), await useOf(one, third)]).toEqual([
      'used',
      'used',
      'expired',
    ]);
  });

  test('an approval in a pipeline is used when its run continues, and only then', async () => {
    const { one, folder } = await openDesk();
    const run = await one.run(join(folder, 'pair.pipeline.yaml'), {});
    const [a = '', b = ''] = run.pending.map(({ id }) => id);
    await one.pending.approve(a, { by: 'mara' });
    expect(await useOf(one, a)).toBe('not_used');
    await one.pending.approve(b, { by: 'mara' });
    expect([await useOf(one, a), await useOf(one, b)]).toEqual(['not_used', 'not_used']);
    await one.runs.resume(run.run_id);
    expect([await useOf(one, a), await useOf(one, b)]).toEqual(['used', 'used']);
    const cancelled = await one.run(join(folder, 'pair.pipeline.yaml'), {});
    const [{ id: c = '' } = {}] = cancelled.pending;
    await one.pending.approve(c, { by: 'mara' });
    await one.runs.cancel(cancelled.run_id, { by: 'mara' });
    expect(await useOf(one, c)).toBe('expired');
    const asked = await one.run(join(folder, 'ask.pipeline.yaml'), {});
    const [{ id: q = '' } = {}] = asked.pending;
    await one.pending.respond(q, { by: 'mara', result: 5 });
    expect(await useOf(one, q)).toBe('not_used');
    await one.runs.resume(asked.run_id);
    expect(await useOf(one, q)).toBe('used');
  });

  test('each approval of a tool that asks again has a use of its own', async () => {
    const { one, folder } = await openDesk();
    const run = await one.run(join(folder, 'twice.pipeline.yaml'), {});
    const [{ id: first = '' } = {}] = run.pending;
    await one.pending.approve(first, { by: 'mara' });
    const again = await one.runs.resume(run.run_id);
    const [{ id: second = '' } = {}] = again.pending;
    await one.pending.approve(second, { by: 'mara' });
    expect([await useOf(one, first), await useOf(one, second)]).toEqual(['used', 'not_used']);
    expect((await one.runs.resume(run.run_id)).status).toBe('completed');
    expect(await useOf(one, second)).toBe('used');
  });

  test('a step that continues uses the newest decision about it, whatever the clock says', async () => {
    const { one, store, file } = await openDesk();
    await store.createRun(newRun('r1', { config: file }));
    const expected = new Map<string, string>();
    const rounds = new Map<string, number>();
    const pick = (most: number) => Math.floor(Math.random() * most);
    let newest: Record<string, string> = {};
    for (let index = 0; index < 60; index += 1) {
      const step = ['a/call', 'a/ruling-1/call', 'l[3]/b/call'][pick(3)] ?? '';
      const at = 1_000 + pick(1_000_000);
      if (pick(2) === 0) {
        // As after a retry of the run, some decisions are never used.
        const id = `p${index}`;
        await store.addPending(newCall(id, 'r1', { step, tool: 'pay', createdAt: at }));
        await store.decide(id, { kind: 'approved', args: null, by: 'mara', reason: '' }, at);
        newest = { ...newest, [step]: id };
        expected.set(id, 'not_used');
      } else {
        const round = (rounds.get(step) ?? 0) + 1;
        rounds.set(step, round);
        await store.beginStep('r1', `${step}/ruling-${round}${pick(2) === 0 ? '' : `~${pick(3)}`}`, at);
        const used = newest[step];
        if (used !== undefined) expected.set(used, 'used');
      }
    }
    const { pending } = await one.pending.page({ status: 'all' });
    expect(new Map(pending.map(({ id, use }) => [id, use]))).toEqual(expected);
  });

  test('pages hold the calls of one use, and short texts on request', async () => {
    const { one, store } = await openDesk();
    const made: string[] = [];
    for (let index = 0; index < 6; index += 1) made.push((await waitingCall(one, 'pay', `key_${index}`)).id);
    const [used = '', unused = '', over = '', rejected = ''] = made;
    for (const id of [used, unused, over]) await one.pending.approve(id, { by: 'mara' });
    await one.pending.reject(rejected, { by: 'mara' });
    await one.pending.outcome(used);
    await one.runs.cancel((await one.pending.show(over)).run_id, { by: 'mara' });
    const found = async (filter: Parameters<Runtime['pending']['page']>[0]) =>
      (await one.pending.page(filter)).pending.map(({ id }) => id);
    expect(await found({ use: 'used' })).toEqual([used]);
    expect(await found({ use: 'not_used', limit: 1 })).toEqual([unused]);
    expect(await found({ use: 'expired' })).toEqual([over]);
    expect(await found({ use: 'used', status: 'open' })).toEqual([]);
    const run = (await one.pending.show(made[5] ?? '')).run_id;
    const list = Json.from({ text: 'x'.repeat(5_000), list: Array.from({ length: 4_000 }, (_, n) => n) });
    await store.addPending(newCall('long', run, { tool: 'pay', args: list, message: 'm'.repeat(9_000) }));
    await store.addPending(newCall('huge', run, { tool: 'pay', args: Json.from(['y'.repeat(2_000_000)]) }));
    const { pending } = await one.pending.page({ run, maxCharacters: 2_000 });
    const lengths = pending.map((each) => [each.args_cut, JSON.stringify(each).length < 9_000]);
    expect(lengths).toEqual([
      [undefined, true],
      [true, true],
      [true, true],
    ]);
    expect(pending[2]?.args).toBe('(2000004 characters)');
    const whole = await one.pending.show('long');
    expect([whole.args_cut, whole.args]).toEqual([undefined, list.value]);
    expect(pending.map(({ digest }) => digest)).toEqual([
      (await one.pending.show(made[5] ?? '')).digest,
      whole.digest,
      (await one.pending.show('huge')).digest,
    ]);
    for (const filter of [{ use: 'gone' as never }, { maxCharacters: 0 }])
      await expect(one.pending.page(filter)).rejects.toMatchObject({ code: 'USAGE' });
  });
}
