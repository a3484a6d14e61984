import { expect, test } from 'vitest';
import { openProject, runtimeYaml } from '../dialects/project.ts';

/** Runs an endless loop for a request with "spin", and waits for one with "sleep". */
const server = `#!/bin/sh
while read -r line; do
  case $line in
    *spin*) while :; do :; done ;;
    *sleep*) sleep 2 ;;
  esac
  id=\${line#*'"id":'}
  echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":\${id%%,*},\\"result\\":{\\"allow\\":true}}"
done
`;

async function openGuard() {
  const { runtime, events, warnings } = await openProject({
    'runtime.yaml': runtimeYaml(
      'hooks: {guard: {command: ./guard.sh, hook: provider, runtime: server, timeout_ms: 400, grace_ms: 50}}',
    ),
    'guard.sh': server,
  });
  const ask = async (content: string) => {
    const request = { messages: [{ role: 'user', content }] };
    const { verdict, error } = await runtime.hooks.fire({ hook: 'provider', phase: 'before_call', request });
    return error?.code ?? verdict;
  };
  return { ask, events, warnings };
}

test('a guard server that is busy computing at the timeout is restarted', async () => {
  const { ask, events, warnings } = await openGuard();
  expect(await ask('hello')).toBe('allow');
  expect(await ask('spin')).toBe('PROCESS_TIMEOUT');
  await expect.poll(() => events.filter(({ type }) => type === 'process.ended')).toHaveLength(1);
  await expect.poll(() => ask('hello')).toBe('allow');
  expect(warnings()).toEqual(['it was still computing when its answer timed out, and is restarted']);
});

test('one that waits is not restarted: its late reply is dropped', async () => {
  const { ask, events } = await openGuard();
  expect(await ask('sleep')).toBe('PROCESS_TIMEOUT');
  await expect.poll(() => ask('hello')).toBe('allow');
  expect(events.filter(({ type }) => type === 'process.ended')).toEqual([]);
});
