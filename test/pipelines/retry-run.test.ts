import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Desk, openAt, openDesk, outline, pendingOf } from './desk.ts';

/** Acts unless the file `down` names it. Records its key and input each time. */
const act = `#!/bin/sh
request=$(cat)
printf '%s\\n' "$request" >>"$FOLDER/calls"
name=$(printf '%s' "$request" | sed 's/.*"name": *"\\([^"]*\\)".*/\\1/')
if [ -e "$FOLDER/down" ] && printf '%s' "$request" | grep -q "$(cat "$FOLDER/down")"; then
  printf '{"error": "it is down"}'
  exit 0
fi
printf '{"result": {"n": 1}}'
`;

const spec = `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {tool_calls: [{name: act, args: {who: model}}]}
        - {error: {status: 400, message: no}}
        - {text: Done.}
tools:
  act: {idempotent: true, exec: {command: ./act.sh, env: ["FOLDER=$folder"]}}
  consent: {idempotent: true, approval: required, exec: {command: ./act.sh, env: ["FOLDER=$folder"]}}
`;

async function openWorkshop(): Promise<Desk & { readonly down: (what?: string) => void }> {
  const desk = await openDesk(spec);
  const script = join(desk.folder, 'act.sh');
  writeFileSync(script, act);
  chmodSync(script, 0o755);
  const down = (what?: string) => {
    const file = join(desk.folder, 'down');
    if (what === undefined) rmSync(file);
    else writeFileSync(file, what);
  };
  return { ...desk, down };
}

interface Call {
  readonly args: unknown;
  readonly idempotency_key: string;
}

function callsOf({ folder }: Desk, run: string): string[] {
  if (!existsSync(join(folder, 'calls'))) return [];
  const lines = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const { args, idempotency_key } = JSON.parse(line) as Call;
    return `${idempotency_key.replace(`${run}/`, '')} ${JSON.stringify(args)}`;
  });
}

test('a run continues from the failed step, with its key, and keeps everything before it [DS-RETRY-01 DS-RETRY-02]', async () => {
  const desk = await openWorkshop();
  desk.down('"two"');
  const failed = await desk.run(`
steps:
  - {id: one, tool: act, args: {who: one}}
  - id: group
    steps: [{id: two, tool: act, args: {who: two}}]
  - {id: three, tool: act, args: {who: three}}
output: \${steps.three.result.n}
`);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR' } });
  const again = await desk.runtime.runs.retry(failed.run_id);
  expect(again).toMatchObject({ status: 'failed', error: { code: 'TOOL_ERROR' } });
  desk.down();
  const fresh = await openAt(desk.config);
  const done = await fresh.runtime.runs.retry(failed.run_id);
  expect(done).toMatchObject({ status: 'completed', output: 1 });
  expect(outline(done)).toEqual(['one tool ok', 'two tool ok', 'group steps ok', 'three tool ok']);
  const two = 'two/call {"who":"two"}';
  expect(callsOf(desk, failed.run_id)).toEqual([
    'one/call {"who":"one"}',
    ...[two, two, two],
    'three/call {"who":"three"}',
  ]);
  const shown = [];
  for await (const { step, status, retry = 0 } of fresh.runtime.runs.steps(failed.run_id))
    shown.push(`${step} ${status} ${retry}`);
  expect(shown).toEqual([
    'one ok 0',
    ...['two failed 0', 'group failed 0', 'two failed 1', 'group failed 1'],
    ...['two ok 2', 'group ok 2', 'three ok 0'],
  ]);
  const { timeline } = await fresh.runtime.runs.show(failed.run_id);
  expect(timeline.filter(({ what }) => what === 'retried')).toHaveLength(2);
});

test('only the failed parts of a loop and of branches are repeated [DS-RETRY-01]', async () => {
  const desk = await openWorkshop();
  desk.down('"who":"b"');
  const failed = await desk.run(`
steps:
  - id: both
    parallel:
      - {id: left, for_each: [a, b, c], steps: [{id: first, tool: act, args: {who: "\${item}"}}, {id: second, tool: act, args: {who: "\${item}2"}}]}
      - {id: right, tool: act, args: {who: right}}
      - {id: tolerated, tool: act, args: {who: b}, on_error: continue}
`);
  expect(failed.status).toBe('failed');
  const before = callsOf(desk, failed.run_id).length;
  desk.down();
  expect(await desk.runtime.runs.retry(failed.run_id)).toMatchObject({ status: 'completed' });
  expect(callsOf(desk, failed.run_id).slice(before)).toEqual([
    'left[1]/first/call {"who":"b"}',
    'left[1]/second/call {"who":"b2"}',
  ]);
});

test('a chat continues from the model call that failed [DS-RETRY-01]', async () => {
  const desk = await openWorkshop();
  const chat =
    'steps: [{id: ask, chat: {provider: main, messages: Hi, tools: [act]}}]\noutput: ${steps.ask.text}\n';
  const failed = await desk.run(chat);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'PROVIDER_FAILED' } });
  expect(await desk.runtime.runs.retry(failed.run_id)).toMatchObject({
    status: 'completed',
    output: 'Done.',
  });
  expect(callsOf(desk, failed.run_id)).toEqual(['ask/attempt-1/round-1/call-1 {"who":"model"}']);
});

test('a chat that restarts keeps the keys of equal calls [DS-RETRY-02]', async () => {
  const desk = await openWorkshop();
  const failed = await desk.run(`
steps:
  - {id: ask, chat: {provider: main, messages: Hi, tools: [act]}}
`);
  const fresh = await openAt(desk.config);
  const again = await fresh.runtime.runs.retry(failed.run_id, { from: 'ask' });
  expect(again.status).toBe('failed');
  const key = 'ask/attempt-1/round-1/call-1 {"who":"model"}';
  expect(callsOf(desk, failed.run_id)).toEqual([key, key]);
});

test('a retry from an earlier step repeats everything after it, and other arguments have another key [DS-RETRY-02]', async () => {
  const desk = await openWorkshop();
  desk.down('"last"');
  const failed = await desk.run(`
steps:
  - {id: note, tool: act, args: {who: note}}
  - {id: mails, for_each: [1, 2], tool: act, args: {who: "\${item}", said: "\${steps.note.result}"}}
  - {id: end, tool: act, args: {who: last}}
`);
  const before = callsOf(desk, failed.run_id);
  desk.down();
  const script = readFileSync(join(desk.folder, 'act.sh'), 'utf8');
  writeFileSync(join(desk.folder, 'act.sh'), script.replace('"n": 1', '"n": 2'));
  for (const from of ['nowhere', 'mails[7]', 'said'])
    await expect(desk.runtime.runs.retry(failed.run_id, { from })).rejects.toMatchObject({ code: 'USAGE' });
  const done = await desk.runtime.runs.retry(failed.run_id, { from: 'note' });
  expect(done.status).toBe('completed');
  expect(callsOf(desk, failed.run_id).slice(before.length)).toEqual([
    'note/call {"who":"note"}',
    'mails[0]/call~1 {"who":1,"said":{"n":2}}',
    'mails[1]/call~1 {"who":2,"said":{"n":2}}',
    'end/call {"who":"last"}',
  ]);
});

test('one item of a loop is repeated by its path, and the others are kept [DS-RETRY-01]', async () => {
  const desk = await openWorkshop();
  desk.down('"last"');
  const failed = await desk.run(`
steps:
  - {id: mails, for_each: [1, 2], steps: [{id: a, tool: act, args: {who: "\${item}"}}, {id: b, tool: act, args: {who: "\${item}"}}]}
  - {id: end, tool: act, args: {who: last}}
`);
  const before = callsOf(desk, failed.run_id).length;
  desk.down();
  expect(await desk.runtime.runs.retry(failed.run_id, { from: 'mails[1]/b' })).toMatchObject({
    status: 'completed',
  });
  expect(callsOf(desk, failed.run_id).slice(before)).toEqual([
    'mails[1]/b/call {"who":2}',
    'end/call {"who":"last"}',
  ]);
});

test('an approval stays valid, and a rejected call is asked about again [DS-RETRY-05]', async () => {
  const desk = await openWorkshop();
  const { runtime } = desk;
  const pipeline = 'steps: [{id: pay, tool: consent, args: {who: pay}}]\n';
  desk.down('"pay"');
  const asked = await desk.run(pipeline);
  await runtime.pending.approve(pendingOf(asked), { by: 'ada' });
  expect(await runtime.runs.resume(asked.run_id)).toMatchObject({ status: 'failed' });
  desk.down();
  expect(await runtime.runs.retry(asked.run_id)).toMatchObject({ status: 'completed' });

  const other = await desk.run(pipeline);
  await runtime.pending.reject(pendingOf(other), { by: 'ada', reason: 'not yet' });
  expect(await runtime.runs.resume(other.run_id)).toMatchObject({ error: { code: 'REJECTED' } });
  const again = await runtime.runs.retry(other.run_id);
  expect(again.status).toBe('pending');
  expect(pendingOf(again)).not.toBe(pendingOf(other));
  await runtime.pending.approve(pendingOf(again), { by: 'ada' });
  expect(await runtime.runs.resume(other.run_id)).toMatchObject({ status: 'completed' });
});

test('a run that did not fail is not retried, and of two concurrent retries one wins [DS-RETRY-03]', async () => {
  const desk = await openWorkshop();
  const { runtime } = desk;
  const completed = await desk.run('steps: [{id: one, tool: act}]\n');
  const pending = await desk.run('steps: [{id: one, tool: consent}]\n');
  const refused = { code: 'RUN_NOT_RETRYABLE' };
  await expect(runtime.runs.retry(completed.run_id)).rejects.toMatchObject(refused);
  await expect(runtime.runs.retry(pending.run_id)).rejects.toMatchObject(refused);
  await runtime.runs.cancel(pending.run_id, { by: 'ada' });
  await expect(runtime.runs.retry(pending.run_id)).rejects.toMatchObject(refused);
  await expect(runtime.runs.retry('run_none')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  await expect(runtime.runs.queueRetry(completed.run_id)).rejects.toMatchObject({ code: 'USAGE' });
  desk.down('"one"');
  const failed = await desk.run('steps: [{id: one, tool: act, args: {who: one}}]\n');
  desk.down();
  const other = await openAt(desk.config);
  const both = await Promise.allSettled(
    [runtime, other.runtime].map((each) => each.runs.retry(failed.run_id)),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const [loser] = both.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
  expect(['RUN_BUSY', 'RUN_NOT_RETRYABLE']).toContain(loser);
  expect(callsOf(desk, failed.run_id).filter((call) => call.endsWith('"one"}'))).toHaveLength(2);
});
