import { expect, test } from 'vitest';
import type { NativeLink } from '../../../src/calls/hooks/gate.ts';
import { openGuardFire } from '../../../src/suites/guard/fire-guard.ts';
import { openBench } from '../../calls/capability/bench.ts';

const event = { hook: 'tool', request: { name: 'refund', args: { amount: 1 } } };
const never = new AbortController().signal;

test('concurrent events do not exceed the hook limit, so that queueing does not count as latency', async () => {
  const bench = openBench();
  const { link, most } = counted(bench.links.filter({ runs: ['allow.sh'], phases: ['before_execution'] }));
  const fire = openGuardFire({ links: [link], check: () => undefined, concurrency: 2 });
  const fired = await Promise.all(Array.from({ length: 6 }, () => fire(event, undefined, never)));
  expect(fired.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 6 }, () => 'allow'));
  expect(most()).toBe(2);
});

test('an unknown hook name is reported', async () => {
  const bench = openBench();
  const links = [bench.links.observe({ runs: ['ack.sh'], name: 'audit' })];
  const fire = openGuardFire({ links, check: () => undefined, concurrency: 1 });
  await expect(fire(event, 'audit', never)).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
  await expect(fire(event, 'nobody', never)).rejects.toMatchObject({ code: 'NAME_UNKNOWN' });
});

function counted(link: NativeLink): { readonly link: NativeLink; readonly most: () => number } {
  const { listener } = link;
  if (listener.mode !== 'filter') throw new Error('only a filter is counted');
  const { port } = listener;
  let [now, most] = [0, 0];
  const exchange: typeof port.transport.exchange = async (message, signal) => {
    now += 1;
    most = Math.max(most, now);
    try {
      return await port.transport.exchange(message, signal);
    } finally {
      now -= 1;
    }
  };
  const watched = { ...port, transport: { ...port.transport, exchange } };
  return { link: { ...link, listener: { mode: 'filter', port: watched } }, most: () => most };
}
