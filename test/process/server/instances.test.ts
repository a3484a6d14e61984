import { expect, onTestFinished, test } from 'vitest';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { acquireWatcher } from '../../../src/process/launch/process-groups.ts';
import { balanceLoad } from '../../../src/process/open.ts';
import { openServer, type ServerTransport } from '../../../src/process/server/server.ts';
import { bind, bindQuick, faultOf, textOf } from '../harness.ts';

const message = { method: 'execute', body: '{"args":{"pid":0}}' };

/** The numbers of the instances that get the calls when the servers are in these states. */
async function findAsked(states: readonly Pick<ServerTransport, 'load' | 'isRefusing'>[]): Promise<number[]> {
  const asked: number[] = [];
  const servers = states.map((state, n) => ({
    ...state,
    exchange: async () => {
      asked.push(n);
      return { via: 'rpc' } as const;
    },
    warm: () => {},
    close: async () => {},
  }));
  await balanceLoad(servers).exchange(message);
  return asked;
}

const idle = { load: 0, isRefusing: false };
const busy = { load: 9, isRefusing: false };
const busier = { load: 10, isRefusing: false };
const refusing = { load: 0, isRefusing: true };

test.each([
  { title: 'the first of equals', states: [idle, idle], asked: 0 },
  { title: 'the one with the fewest in flight', states: [busier, busy, busier], asked: 1 },
  { title: 'an idle one', states: [busy, idle, idle], asked: 1 },
  { title: 'a busy one rather than one that refuses', states: [refusing, busier, busy, refusing], asked: 2 },
  { title: 'an idle one behind one that refuses', states: [refusing, idle], asked: 1 },
  { title: 'the first where all refuse', states: [refusing, refusing], asked: 0 },
])('one of several servers is selected: $title', async ({ states, asked }) => {
  expect(await findAsked(states)).toEqual([asked]);
});

async function openDirectly(binding = bindQuick()): Promise<ServerTransport> {
  onTestFinished(acquireWatcher(() => {}));
  return openServer(binding, { launch: await openLauncher('auto'), emit: () => {} });
}

test('the load counts pending starts and replies, and no failures', async () => {
  const server = await openDirectly();
  const replies = [1, 2, 3].map(() => server.exchange(message));
  expect(server.load).toBe(3);
  await Promise.all(replies);
  const more = [1, 2].map(() => server.exchange(message));
  expect(server.load).toBe(2);
  await Promise.all(more);
  expect(server.load).toBe(0);
  await server.close();
  const missing = await openDirectly(bind('./no-such-program', { mode: 'server' }));
  expect((await faultOf(missing.exchange(message))).code).toBe('PROCESS_START');
  expect(missing.load).toBe(0);
  await missing.close();
});

test('a caller that aborted before gets that error, and a ready server receives nothing', async () => {
  const server = await openDirectly();
  await server.exchange(message);
  expect((await faultOf(server.exchange(message, AbortSignal.abort()))).code).toBe('ABORTED');
  expect(JSON.parse(textOf(await server.exchange(message))).count).toBe(2);
  await server.close();
});
