import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatYaml, mockProvider, openProject, runtimeYaml } from './project.ts';

const tool = `tools:
  list:
    input_schema: {type: object, properties: {what: {type: string}}}
    exec: {command: ./list.sh}
`;
const lists = { 'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n' };
const fails = (dialect: string, event: string) =>
  `{dialect: ${dialect}, command: "exit 1", ${dialect}: {event: ${event}}}`;

test('several hooks that failed open are all reported', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        `${tool}hooks:`,
        `  a: ${fails('claude', 'PreToolUse')}`,
        `  b: ${fails('claude', 'PreToolUse')}`,
        `  c: ${fails('agentao', 'PreToolUse')}`,
        `  d: ${fails('claude', 'PostToolUse')}`,
      ].join('\n'),
    ),
    ...lists,
  });
  expect(await runtime.tools.call('list', {})).toMatchObject({
    status: 'ok',
    metadata: {
      failed_open: {
        hook: 'a',
        cause: 'claude.exit_other',
        more: [
          { hook: 'b', cause: 'claude.exit_other' },
          { hook: 'c', cause: 'agentao.exit_nonzero' },
          { hook: 'd', cause: 'claude.exit_other' },
        ],
      },
    },
  });
});

test('a run reports which of its hooks failed open', async () => {
  const events = ['UserPromptSubmit', 'PreToolUse', 'PostToolBatch', 'Stop'];
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      `${mockProvider('{tool_calls: [{name: list, args: {}}]}', '{text: done}')}${tool}hooks:\n${events
        .map((event) => `  ${event}: ${fails('claude', event)}`)
        .join('\n')}`,
    ),
    'agent.pipeline.yaml': chatYaml('tools: [list]'),
    ...lists,
  });
  const run = await runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hi' });
  const failed = events.map((hook) => ({ hook, cause: 'claude.exit_other' }));
  expect(run.steps).toMatchObject([{ step: 'chat', status: 'ok', failed_open: failed }]);
});

test('hook texts for the model are in the document of the call', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(
      `${tool}hooks:\n  h: {dialect: claude, command: "echo leaked >&2; exit 2", claude: {event: PostToolUse}}`,
    ),
    ...lists,
  });
  expect(await runtime.tools.call('list', {})).toEqual({
    status: 'ok',
    result: 'two files',
    context: ['<system-reminder>\nleaked\n</system-reminder>'],
  });
});

const guard = `if grep -q 'everything'; then echo no >&2; exit 2; fi; echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'`;
const answer = (what: string) =>
  JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: { behavior: 'allow', updatedInput: { what } },
    },
  });

test.each([
  { title: 'what a guard forbids', what: 'everything', document: { status: 'denied', hook: 'guard' } },
  { title: 'what the guard lets pass', what: 'files', document: { status: 'ok', result: 'two files' } },
])('a person who answers a question may change the call into $title', async ({ what, document }) => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        `${tool}hooks:`,
        '  guard: {dialect: claude, command: ./guard.sh, claude: {event: PreToolUse}}',
        '  butler: {dialect: claude, command: ./butler.sh, claude: {event: PermissionRequest}}',
      ].join('\n'),
    ),
    'guard.sh': `#!/bin/sh\n${guard}\n`,
    'butler.sh': `#!/bin/sh\necho '${answer(what)}'\n`,
    ...lists,
  });
  expect(await runtime.tools.call('list', { what: 'some' })).toMatchObject(document);
});
