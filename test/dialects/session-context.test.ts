import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { chatYaml, mockProvider, type OpenProject, openProject, runtimeYaml } from './project.ts';

const remind = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`;
const starts = (matcher: string, text: string) =>
  `  ${matcher}: {dialect: claude, command: "echo ${text}", claude: {event: SessionStart, matcher: ${matcher}}}`;
const tool =
  'tools: {list: {input_schema: {type: object}, approval: required, exec: {command: ./list.sh}}}\n';
const twoRounds = [
  '{tool_calls: [{name: list, args: {}}], when: "size(messages) == 1"}',
  '{text: done, repeat: true}',
];

async function openSession(
  hooks: readonly string[],
  {
    chat = 'tools: [list]',
    responses = twoRounds,
    files = {},
    store = 'state.db',
  }: Partial<{
    chat: string;
    responses: readonly string[];
    files: Readonly<Record<string, string>>;
    store: string;
  }> = {},
) {
  return await openProject({
    'runtime.yaml': runtimeYaml(
      `defaults: {grace_ms: 50}\nstate_store: ${store === 'memory' ? '{type: memory}' : `{type: sqlite, path: ${store}}`}\n${mockProvider(...responses)}${tool}hooks:\n${hooks.join('\n')}`,
    ),
    'agent.pipeline.yaml': chatYaml(chat),
    'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n',
    ...files,
  });
}

async function reopen({ runtime, folder }: OpenProject) {
  await runtime.close();
  const next = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => next.close());
  return next;
}

const messagesOf = ({ output }: { readonly output: unknown }): string[] =>
  JSON.parse(JSON.stringify(output)).messages.map(
    ({ role, content }: { role: string; content: string }) => `${role}: ${content}`,
  );
const start = async ({ runtime, folder }: OpenProject) =>
  await runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hi' });

test('context from a session’s start reaches the model when no person speaks first', async () => {
  const chat = '';
  const opened = await openSession([starts('startup', 'branch')], {
    responses: ['{text: "${messages[size(messages) - 1].content}"}'],
    store: 'memory',
  });
  writeFileSync(
    join(opened.folder, 'agent.pipeline.yaml'),
    chatYaml(chat).replace(
      /messages: \[\{role.*/,
      'messages: [{role: user, content: "q"}, {role: assistant, content: "a"}]',
    ),
  );
  expect(messagesOf(await start(opened))).toEqual([
    'user: q',
    'assistant: a',
    `user: ${remind('branch')}`,
    `assistant: ${remind('branch')}`,
  ]);
});

test('context from a resume reaches the next model call once, and again at the next resume', async () => {
  const opened = await openSession([starts('startup', 'started'), starts('resume', 'resumed')]);
  const paused = await start(opened);
  expect(paused.status).toBe('pending');
  const second = await reopen(opened);
  // Still undecided, so it waits again.
  expect((await second.runs.resume(paused.run_id)).status).toBe('pending');
  const third = await reopen({ ...opened, runtime: second });
  await third.pending.approve(paused.pending[0]?.id ?? '', { by: 'amy' });
  expect(messagesOf(await third.runs.resume(paused.run_id))).toEqual([
    `user: ${remind('started')}\nhi`,
    'assistant: ',
    'tool: two files',
    `user: ${remind('resumed')}\n${remind('resumed')}`,
    'assistant: done',
  ]);
});

test('a run interrupted between its start and its first turn keeps the context of hooks', async () => {
  const waits = '#!/bin/sh\ncat > /dev/null\n[ -e go ] && exit 0\ntouch asked\nsleep 60\n';
  const opened = await openSession(
    [
      starts('startup', 'started'),
      '  wait: {dialect: claude, command: ./wait.sh, claude: {event: UserPromptSubmit}}',
    ],
    { files: { 'wait.sh': waits }, responses: ['{text: done}'] },
  );
  const giveUp = new AbortController();
  const file = join(opened.folder, 'agent.pipeline.yaml');
  const ended = opened.runtime.run(file, { text: 'hi' }, { signal: giveUp.signal }).catch((error) => error);
  while (!existsSync(join(opened.folder, 'asked'))) await sleep(10);
  giveUp.abort();
  await ended;
  writeFileSync(join(opened.folder, 'go'), '');
  const next = await reopen(opened);
  const [kept] = await next.runs.list();
  const run = await next.runs.resume(kept?.run_id ?? '');
  expect(messagesOf(run)).toEqual([`user: ${remind('started')}\nhi`, 'assistant: done']);
});

test('a run that continues reads a background hook’s context again', async () => {
  const late = `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'deployed' } })}'\ntouch said\n`;
  const opened = await openSession(
    [
      '  late: {dialect: claude, command: ./late.sh, claude: {event: UserPromptSubmit, async: true}}',
      // The next model call follows.
      '  slow: {hook: provider, phases: [before_call], command: ./slow.sh}',
      '  batch: {dialect: claude, command: "until test -e said; do sleep 0.05; done; sleep 0.3", claude: {event: UserPromptSubmit}}',
    ],
    {
      responses: ['{tool_calls: [{name: list, args: {}}], when: "round == 1"}', '{text: done}'],
      files: { 'late.sh': late, 'slow.sh': '#!/bin/sh\necho \'{"allow": true}\'\n' },
    },
  );
  const paused = await start(opened);
  const next = await reopen(opened);
  await next.pending.approve(paused.pending[0]?.id ?? '', { by: 'amy' });
  expect(messagesOf(await next.runs.resume(paused.run_id)).slice(0, 2)).toEqual([
    'user: hi',
    `user: ${remind('deployed')}`,
  ]);
});

const long =
  '  long: {dialect: claude, command: "head -c 20000 /dev/zero | tr \'\\\\\\\\0\' x", claude: {event: UserPromptSubmit}}';
const fileIn = (text: string) => /the whole text is in (\S+)\]/.exec(text)?.[1] ?? '';

test('a long context’s file exists when the run continues in another process, and is removed when it is pruned', async () => {
  const opened = await openSession([long]);
  const paused = await start(opened);
  expect(paused.status).toBe('pending');
  const next = await reopen(opened);
  await next.pending.approve(paused.pending[0]?.id ?? '', { by: 'amy' });
  const [prompt = ''] = messagesOf(await next.runs.resume(paused.run_id));
  expect(readFileSync(fileIn(prompt), 'utf8')).toHaveLength(20_000);
  await sleep(5);
  expect(await next.runs.prune({ olderThanMs: 0 })).toBe(1);
  expect(existsSync(fileIn(prompt))).toBe(false);
});

test('a long context of an unstored call is removed with the runtime', async () => {
  const opened = await openSession([long]);
  const decision = await opened.runtime.hooks.fire({
    dialect: 'claude',
    point: 'UserPromptSubmit',
    payload: { prompt: 'hi', session_id: 's1' },
  });
  const file = fileIn(decision.context?.[0] ?? '');
  expect(existsSync(file)).toBe(true);
  await opened.runtime.close();
  expect(existsSync(file)).toBe(false);
  expect(readdirSync(opened.folder)).not.toContain('state.db.texts');
});

test('a missing context file does no harm', async () => {
  const opened = await openSession([long]);
  const paused = await start(opened);
  rmSync(join(opened.folder, 'state.db.texts'), { recursive: true });
  const next = await reopen(opened);
  await next.pending.approve(paused.pending[0]?.id ?? '', { by: 'amy' });
  expect((await next.runs.resume(paused.run_id)).status).toBe('completed');
  expect(await next.runs.prune({ olderThanMs: 0 })).toBe(1);
});
