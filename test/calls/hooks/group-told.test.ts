import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openGroup } from '../../../src/calls/hooks/group.ts';
import { answers } from '../../../src/contract/hook.ts';
import { hookCall, openPlayedGroup, point } from './played-group.ts';

const allow = answers.allow();
const watching = { ...point, isFilter: false };

function slow() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const does = async () => {
    await promise;
    return allow;
  };
  return { does, let: resolve };
}

test('hooks that are not awaited run at once, each in its own queue', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: watching });
  const a = slow();
  const group = openGroup(dialect, [member('a', a.does), member('b', allow)], context);
  await group.notify(hookCall());
  await group.notify(hookCall({ payload: { n: 1 } }));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(said).toEqual(['a asked {"n":0}', 'b asked {"n":0}', 'b asked {"n":1}']);
  a.let();
  await group.close();
  expect(said.at(-1)).toBe('a asked {"n":1}');
});

test('hooks that their dialect awaits run one after another, until the caller aborts', async () => {
  const { member, dialect, context, said } = openPlayedGroup({ P: { ...watching, isAwaited: true } });
  const a = slow();
  const group = openGroup(dialect, [member('a', a.does), member('b', allow)], context);
  let isDone = false;
  const told = group.notify(hookCall()).then(() => {
    isDone = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect([said, isDone]).toEqual([['a asked {"n":0}'], false]);
  a.let();
  await told;
  expect(said).toEqual(['a asked {"n":0}', 'b asked {"n":0}']);
  await group.close();
});

test.each(['before', 'while'])(
  'a caller that aborts %s they run waits no more; they run anyway',
  async (when) => {
    const { member, dialect, context, said } = openPlayedGroup({ P: { ...watching, isAwaited: true } });
    const [a, caller] = [slow(), new AbortController()];
    const group = openGroup(dialect, [member('a', a.does), member('b', allow)], context);
    if (when === 'before') caller.abort();
    const told = group.notify(hookCall({ signal: caller.signal }));
    if (when === 'while') setImmediate(() => caller.abort());
    await told;
    expect(said).not.toContain('b asked {"n":0}');
    a.let();
    for (let turn = 0; turn < 9; turn += 1) await nextTurn();
    expect(said).toContain('b asked {"n":0}');
    await group.close();
  },
);
