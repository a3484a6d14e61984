import { expect, test } from 'vitest';
import { openProject, runtimeYaml } from '../project.ts';
import { entry } from './scripts.ts';

const deaf = `#!/bin/sh
read -r line
echo '{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
exec sleep 30`;

test('an observer that does not read delays nothing: missed events cause a warning, the newest are dropped and counted [PC-5-14@server]', async () => {
  const { runtime, events, warnings } = await openProject({
    'runtime.yaml': runtimeYaml(
      ['hooks:', entry('deaf', 'observe: ["*"], observer_timeout_ms: 200', 'grace_ms: 100')].join('\n'),
    ),
    deaf,
  });
  const payload = { KindName: 'turn_start', Payload: { UserMessage: 'x'.repeat(1_000) } };
  const startedAt = performance.now();
  const told = Array.from({ length: 1_100 }, () =>
    runtime.hooks.fire({ dialect: 'picoclaw', point: 'event', payload }),
  );
  expect(new Set((await Promise.all(told)).map(({ verdict }) => verdict))).toEqual(new Set(['allow']));
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await runtime.close();
  const dropped = events.flatMap((event) => (event.type === 'dropped' ? [event] : []));
  const missed = warnings().filter((each) => each.startsWith('the hook did not receive event: '));
  expect(new Set(dropped.map(({ what }) => what))).toEqual(new Set(['observer event']));
  // The first ones are reported one by one, the rest by their number.
  expect(dropped.at(-1)?.detail).toMatch(/^76 events in all,/);
  // An event in the pipe of a process counts as delivered.
  expect(missed.length).toBeGreaterThan(800);
  expect(missed.length).toBeLessThan(1_024);
});
