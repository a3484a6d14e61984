import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunDocument } from '../../src/contract/run.ts';
import { recorded } from '../runtime/open.ts';
import { type Desk, hookRecording, openDesk, pendingOf, recording } from './desk.ts';

const spec = `
tools:
  note: {exec: {command: $bin/answers, args: ['{"result": "noted"}']}}
  fail: {exec: {command: $bin/crash.sh}}
  refund: {exec: ${recording('pending.sh', 'refunds')}}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: "messages[0].content == 'break'", repeat: true, error: {status: 400, message: no}}
        - {text: "you said \${messages[0].content}"}
hooks:
  session: {hook: session, ${hookRecording('record-event', 'session')}}
`;

const say = (id: string, text: string) => `{id: ${id}, chat: {provider: main, messages: ${text}}}`;

async function told(desk: Desk): Promise<string[]> {
  await desk.runtime.close();
  return recorded(join(desk.folder, 'session')).map((line) => {
    const { phase, event } = line as { phase: string; event: { turn_index: number; messages: unknown[] } };
    return `${phase} ${event.turn_index} ${event.messages.length}`;
  });
}

async function answer(desk: Desk, paused: RunDocument): Promise<RunDocument> {
  await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 7 });
  const other = await desk.reopen();
  return await other.runtime.runs.resume(paused.run_id);
}

test('session hooks receive the start, each turn and the end [DS-CHAT-04]', async () => {
  const desk = await openDesk(spec);
  const end = await desk.run(`steps: [${say('one', 'hi')}, {id: mid, tool: note}, ${say('two', 'ho')}]\n`);
  await desk.runtime.close();
  const about = { session_id: end.run_id, conversation_id: end.run_id, metadata: {} };
  const talk = (text: string) => [
    { role: 'user', content: text, parts: [{ type: 'text', text }] },
    {
      role: 'assistant',
      content: `you said ${text}`,
      finish_reason: 'stop',
      parts: [{ type: 'text', text: `you said ${text}` }],
    },
  ];
  expect(recorded(join(desk.folder, 'session'))).toEqual([
    { hook: 'session', phase: 'session_start', event: { ...about, messages: [], turn_index: 0 } },
    { hook: 'session', phase: 'session_update', event: { ...about, messages: talk('hi'), turn_index: 1 } },
    { hook: 'session', phase: 'session_update', event: { ...about, messages: talk('ho'), turn_index: 2 } },
    { hook: 'session', phase: 'session_end', event: { ...about, messages: talk('ho'), turn_index: 2 } },
  ]);
});

const ends = [
  {
    title: 'failed',
    steps: `${say('one', 'hi')}, {id: two, tool: fail}`,
    says: ['session_start 0 0', 'session_update 1 2', 'session_end 1 2'],
  },
  { title: 'failed in its turn', steps: say('one', 'break'), says: ['session_start 0 0', 'session_end 0 0'] },
  { title: 'had no turn', steps: '{id: one, tool: note}', says: ['session_start 0 0', 'session_end 0 0'] },
];

test.each(ends)(
  'for a run that $title, the session hooks receive $says [DS-CHAT-04]',
  async ({ steps, says }) => {
    const desk = await openDesk(spec);
    await desk.run(`steps: [${steps}]\n`);
    expect(await told(desk)).toEqual(says);
  },
);

const resumed = [
  { title: 'in the steps of the file', first: say('one', 'hi') },
  { title: 'in a group', first: `{id: group, steps: [${say('one', 'hi')}]}` },
  { title: 'in a loop', first: `{id: loop, for_each: [1], steps: [${say('one', 'hi')}]}` },
  { title: 'in a branch', first: `{id: both, parallel: [${say('one', 'hi')}, {id: b, tool: note}]}` },
];

test.each(resumed)(
  'a pause does not end a session, and turns $title are counted on after it [DS-CHAT-04]',
  async ({ first }) => {
    const desk = await openDesk(spec);
    const paused = await desk.run(`steps: [${first}, {id: wait, tool: refund}, ${say('two', 'ho')}]\n`);
    expect(await told(desk)).toEqual(['session_start 0 0', 'session_update 1 2']);
    const other = await desk.reopen();
    expect(await answer(other, paused)).toMatchObject({ status: 'completed' });
    await expect.poll(async () => recorded(join(desk.folder, 'session')).length, { timeout: 15_000 }).toBe(4);
    expect(await told(other)).toEqual([
      'session_start 0 0',
      'session_update 1 2',
      'session_update 2 2',
      'session_end 2 2',
    ]);
  },
);

test('a turn that waited is reported when it is complete', async () => {
  const desk = await openDesk(
    spec.replace(
      'responses:',
      'responses:\n        - {when: round == 1, tool_calls: [{name: refund}]}\n        - {when: round == 2, text: done}',
    ),
  );
  const paused = await desk.run(
    'steps: [{id: one, chat: {provider: main, messages: hi, tools: [refund]}}]\n',
  );
  expect(await answer(desk, paused)).toMatchObject({ status: 'completed' });
  await expect.poll(async () => recorded(join(desk.folder, 'session')).length, { timeout: 15_000 }).toBe(3);
  expect(await told(desk)).toEqual(['session_start 0 0', 'session_update 1 4', 'session_end 1 4']);
});

test('a run that is cancelled while it waits ends its session', async () => {
  const desk = await openDesk(spec);
  const paused = await desk.run(`steps: [${say('one', 'hi')}, {id: wait, tool: refund}]\n`);
  await desk.runtime.runs.cancel(paused.run_id, { by: 'mara' });
  expect(await told(desk)).toEqual(['session_start 0 0', 'session_update 1 2', 'session_end 1 2']);
});

test('a single call is no session, even when it waits', async () => {
  const desk = await openDesk(`${spec}  start: {hook: session, ${hookRecording('record-event', 'other')}}\n`);
  const document = await desk.runtime.tools.call('refund', {});
  const [pending] = await desk.runtime.pending.list();
  expect(document).toMatchObject({
    status: 'pending',
    pending: { id: pending?.id, run_id: pending?.run_id },
  });
  await desk.runtime.pending.approve(pending?.id ?? '', { by: 'mara' });
  expect(await desk.runtime.runs.resume(pending?.run_id ?? '')).toMatchObject({ status: 'completed' });
  await desk.runtime.close();
  expect(desk.lines('session')).toEqual([]);
});

test('session hooks only observe: one that denies, fails or hangs changes nothing', async () => {
  const desk = await openDesk(`
state_store: {type: memory}
tools: {note: {exec: {command: $bin/answers, args: ['{"result": "noted"}']}}}
hooks:
  no: {hook: session, command: $bin/deny.sh}
  bad: {hook: session, command: $bin/crash.sh}
  stuck: {hook: session, command: $bin/hang.sh, timeout_ms: 300}
`);
  expect(await desk.run('steps: [{id: one, tool: note}]\n')).toMatchObject({ status: 'completed' });
});
