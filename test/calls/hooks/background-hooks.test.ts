import { expect, test } from 'vitest';
import { openProject, runtimeYaml } from '../../dialects/project.ts';

const hooks = `hooks:
  slow: {dialect: claude, command: sleep 1.6, timeout_ms: 4000, claude: {event: SessionEnd}}
  quick: {dialect: claude, command: 'true', claude: {event: SessionEnd}, timeout_ms: 1000}
`;

test('a runtime that waits for hooks as it closes reports after a second which ones and how long', async () => {
  const { runtime, warnings } = await openProject({ 'runtime.yaml': runtimeYaml(hooks) });
  await runtime.hooks.fire({ dialect: 'claude', point: 'SessionEnd', payload: {} });
  const closing = runtime.close();
  expect(warnings()).toEqual([]);
  await closing;
  expect(warnings()).toEqual(['the runtime is still waiting for slow before it closes, for 8 s at most']);
});

test('one that closes at once reports nothing', async () => {
  const { runtime, warnings } = await openProject({
    'runtime.yaml': runtimeYaml(hooks.replace('sleep 1.6', "'true'")),
  });
  await runtime.hooks.fire({ dialect: 'claude', point: 'SessionEnd', payload: {} });
  await runtime.close();
  expect(warnings()).toEqual([]);
});
