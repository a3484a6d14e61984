import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rowsOf } from '../table.ts';
import { chatYaml, mockProvider, openProject, runtimeYaml } from './project.ts';

const tool = `tools:
  list:
    input_schema: {type: object}
    exec: {command: ./list.sh}
`;
const responses = ['{tool_calls: [{name: list, args: {}}]}', '{text: done}'];
const waits = '#!/bin/sh\ncat > /dev/null\ntouch asked\nwhile [ ! -e go ]; do sleep 0.02; done\n';

const rows = rowsOf<Record<'title' | 'hook', string>>`
  title | hook
  a native filter | h: {hook: tool, phases: [before_execution], command: ./native.sh}
  claude PreToolUse | h: {dialect: claude, command: ./wait.sh, claude: {event: PreToolUse}}
  claude PostToolUse | h: {dialect: claude, command: ./wait.sh, claude: {event: PostToolUse}}
  claude UserPromptSubmit | h: {dialect: claude, command: ./wait.sh, claude: {event: UserPromptSubmit}}
  claude SessionStart | h: {dialect: claude, command: ./wait.sh, claude: {event: SessionStart}}
  claude Stop | h: {dialect: claude, command: ./wait.sh, claude: {event: Stop}}
  agentao Stop | h: {dialect: agentao, command: ./wait.sh, agentao: {event: Stop}}
  a native filter of the model call | h: {hook: provider, command: ./native.sh}
`;

test.each(rows)('a run that is suspended during $title continues later', async ({ hook }) => {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      `defaults: {grace_ms: 50}\nstate_store: {type: sqlite, path: state.db}\n${mockProvider(...responses)}${tool}hooks:\n  ${hook}`,
    ),
    'agent.pipeline.yaml': chatYaml('tools: [list]'),
    'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n',
    'wait.sh': waits,
    'native.sh': `${waits}echo '{"allow": true}'\n`,
  });
  const interrupt = new AbortController();
  const run = runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hi' }, { signal: interrupt.signal });
  const ended = run.catch((error: unknown) => error);
  while (!existsSync(join(folder, 'asked'))) await sleep(10);
  interrupt.abort();
  expect(await ended).toMatchObject({ code: 'ABORTED' });
  writeFileSync(join(folder, 'go'), '');
  const [kept] = await runtime.runs.list();
  const document = await runtime.runs.resume(kept?.run_id ?? '');
  expect(document).toMatchObject({ status: 'completed', output: { text: 'done' } });
});

test('a tool call that is aborted during a hook has failed, not been denied', async () => {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      `defaults: {grace_ms: 50}\n${tool}hooks:\n  h: {dialect: claude, command: ./wait.sh, claude: {event: PreToolUse}}`,
    ),
    'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n',
    'wait.sh': waits,
  });
  const interrupt = new AbortController();
  const call = runtime.tools.call('list', {}, { signal: interrupt.signal });
  while (!existsSync(join(folder, 'asked'))) await sleep(10);
  interrupt.abort();
  expect(await call).toMatchObject({ status: 'failed', error: { code: 'ABORTED' } });
});
