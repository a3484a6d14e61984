import { expect, test } from 'vitest';
import { callRun, keep, openAgent, output } from './agent.ts';
import { on, specific } from './scripts.ts';

const asks = on(
  'Bash',
  specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'sure?' }),
);
const decide = (decision: object) => on('Bash', specific('PermissionRequest', { decision }));

test.each([
  {
    title: 'an approval with other arguments',
    decision: { behavior: 'allow', updatedInput: { command: 'ls -a' } },
    means: ['completed', 'ok', 'ls -a'],
  },
  { title: 'an approval', decision: { behavior: 'allow' }, means: ['completed', 'ok', 'ls'] },
  {
    title: 'a rejection',
    decision: { behavior: 'deny', message: 'read only' },
    means: ['completed', 'denied', 'Tool "run" was blocked by hook "PermissionRequest-1": read only'],
  },
  {
    title: 'arguments that do not fit the tool',
    decision: { behavior: 'allow', updatedInput: { command: 7 } },
    means: ['completed', 'denied', expect.stringContaining('the hook failed')],
  },
])(
  'a PermissionRequest hook answers a question with $title [CC-7-13 CC-7-18]',
  async ({ decision, means }) => {
    const agent = await openAgent(
      { PreToolUse: [asks], PermissionRequest: [decide(decision)] },
      { responses: [callRun(1), '{text: done}'] },
    );
    const run = await agent.run();
    const [call] = output(run).calls;
    const given = call.status === 'ok' ? JSON.parse(agent.read('asked.json')).args.command : call.result;
    expect([run.status, call.status, given]).toEqual(means);
  },
);

test('an interrupt ends the turn [CC-7-13]', async () => {
  const agent = await openAgent(
    {
      PreToolUse: [asks],
      PermissionRequest: [decide({ behavior: 'deny', message: 'stop', interrupt: true })],
    },
    { responses: [callRun(1), '{text: done}'] },
  );
  const { status, error } = await agent.run();
  expect([status, error?.message]).toEqual([
    'denied',
    expect.stringContaining('"PermissionRequest-1": stop'),
  ]);
});

test('without an answer a person is asked, a Notification is sent, and the resumed session starts again [CC-7-13 CC-5-02 CC-7-05]', async () => {
  const agent = await openAgent(
    {
      SessionStart: [on(undefined, 'sed \'s/.*"source":"\\([a-z]*\\)".*/\\1/\' >> started.txt')],
      PreToolUse: [asks],
      PermissionRequest: [on('Bash', 'echo no >&2; exit 2')],
      Notification: [on('permission_prompt', keep('told.jsonl')), on('idle_prompt', 'touch idle')],
    },
    { responses: [callRun(1), '{text: done}'] },
  );
  const paused = await agent.run();
  const [pending] = paused.pending;
  expect([paused.status, pending?.reason]).toEqual(['pending', 'sure?']);
  await agent.runtime.pending.approve(pending?.id ?? '', { by: 'ann' });
  const run = await agent.runtime.runs.resume(paused.run_id);
  await agent.runtime.close();
  expect([run.status, output(run).text]).toEqual(['completed', 'done']);
  expect(agent.read('started.txt').trim().split('\n')).toEqual(['startup', 'resume']);
  expect(agent.payloads('told.jsonl')).toMatchObject([
    { notification_type: 'permission_prompt', message: expect.stringContaining('"run"') },
  ]);
});

test('an allow skips no other hook, and no pending call of the tool [CC-7-17]', async () => {
  const allow = { PreToolUse: [on('Bash', specific('PreToolUse', { permissionDecision: 'allow' }))] };
  const responses = [callRun(1), '{text: done}'];
  const native = 'hooks:\n  guard: {hook: tool, phases: [before_execution], command: ./guard.sh}\n';
  const guarded = await openAgent(allow, {
    responses,
    spec: native,
    files: { 'guard.sh': '#!/bin/sh\ncat > /dev/null\necho \'{"allow": false, "reason": "guarded"}\'\n' },
  });
  const waiting = await openAgent(allow, {
    responses,
    files: {
      'run.sh': '#!/bin/sh\ncat > /dev/null\necho \'{"pending": {"reason": "r", "message": "m"}}\'\n',
    },
  });
  const [call] = output(await guarded.run()).calls;
  expect([call.status, call.result]).toEqual(['denied', 'Tool "run" was blocked by hook "guard": guarded']);
  expect((await waiting.run()).status).toBe('pending');
});
