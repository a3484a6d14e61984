import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/index.ts';
import {
  type Desk,
  hookRecording,
  openAt,
  openDesk,
  outline,
  pendingOf,
  recording,
  runElsewhere,
  writePipeline,
} from './desk.ts';

async function cutOff(spec: string, pipeline: string): Promise<{ desk: Desk; id: string }> {
  const first = await openDesk(spec);
  await first.runtime.close();
  expect(await runElsewhere(first.config, writePipeline(first.folder, pipeline))).toBe('SIGKILL');
  const desk = await openAt(first.config);
  const [run] = await desk.runtime.runs.list();
  expect(run).toMatchObject({ status: 'cut_off', kind: 'pipeline', name: 'desk' });
  return { desk, id: run?.run_id ?? '' };
}

const two = `
steps:
  - {id: before, tool: before, args: {n: 1}}
  - {id: pay, tool: pay, args: {n: 2, order: 12345678901234567890}}
output: \${steps.pay.result}
`;

const payWith = (more: string, call = '1') => `
tools:
  before: {exec: ${recording('answers', 'before', '{"result": "done"}')}}
  pay: {exec: ${recording('kills-caller.sh', 'requests', call)}, ${more}}
`;

const args = '"args":{"n":2,"order":12345678901234567890}';

test('an interrupted call is repeated, and those before it are not [DS-IDEM-03 DS-RUN-03]', async () => {
  const { desk, id } = await cutOff(payWith('description: pays'), two);
  expect(await desk.runtime.runs.resume(id)).toMatchObject({
    run_id: id,
    status: 'completed',
    output: { args: { n: 2 } },
  });
  expect(desk.lines('requests')).toEqual([`{${args}}`, `{${args}}`]);
  expect(desk.lines('before')).toHaveLength(1);
  const { timeline } = await desk.runtime.runs.show(id);
  expect(timeline).toContainEqual(
    expect.objectContaining({ what: 'step began', step: 'pay/call', detail: 'begun 2 times' }),
  );
});

test('an idempotent tool gets the same key when its call is repeated, and another after an approval [DS-IDEM-02]', async () => {
  const { desk, id } = await cutOff(
    payWith('idempotent: true, approval: {when: "${args.n == 3}"}'),
    `
steps:
  - {id: pay, tool: pay, args: {n: 2}}
  - {id: more, tool: pay, args: {n: 3}}
  - {id: same, tool: pay, args: {n: 2}}
`,
  );
  const paused = await desk.runtime.runs.resume(id);
  await desk.runtime.pending.approve(pendingOf(paused), { by: 'mara' });
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests').map((line) => JSON.parse(line).idempotency_key)).toEqual([
    `${id}/pay/call`,
    `${id}/pay/call`,
    `${id}/more/call#${pendingOf(paused)}`,
    `${id}/same/call`,
  ]);
});

test('an approved call that was interrupted is repeated with the key of its approval [DS-IDEM-02]', async () => {
  const desk = await openDesk(payWith('idempotent: true, approval: required'));
  const { run_id } = await desk.run(two);
  const [pending] = await desk.runtime.pending.list();
  await desk.runtime.pending.approve(pending?.id ?? '', { by: 'mara' });
  expect(await resumeElsewhere(desk, run_id)).toBe('SIGKILL');
  const again = await openAt(desk.config);
  expect(await again.runtime.runs.resume(run_id)).toMatchObject({ status: 'completed' });
  const key = `${run_id}/pay/call#${pending?.id}`;
  const approval = `"approval":{"id":"${pending?.id}","decision":"approved","by":"mara","reason":""}`;
  expect(desk.lines('requests')).toEqual(Array(2).fill(`{${args},"idempotency_key":"${key}",${approval}}`));
});

async function resumeElsewhere(desk: Desk, id: string): Promise<number | string> {
  await desk.runtime.close();
  return await runElsewhere(desk.config, id);
}

const unsafe = 'idempotent: false';

const message = 'Tool "pay" may or may not have run. Approve to call it again, or answer in its place.';

test('an interrupted call that must not be repeated waits for a person [DS-IDEM-03]', async () => {
  const { desk, id } = await cutOff(payWith(unsafe), two);
  const paused = await desk.runtime.runs.resume(id);
  expect(outline(paused)).toEqual(['before tool ok', 'pay tool pending']);
  expect(await desk.runtime.pending.show(pendingOf(paused))).toMatchObject({
    origin: 'interrupted',
    hook: null,
    reason: 'the call was interrupted, and the tool is not idempotent',
    message,
    args: { n: 2 },
    members: {},
    expires_at: null,
    status: 'open',
  });
  expect(desk.lines('requests')).toEqual([`{${args}}`]);
  // Repeated resumes call nothing and keep the one pending call.
  expect(await desk.runtime.runs.resume(id)).toEqual(paused);
  expect(desk.lines('requests')).toHaveLength(1);

  await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 'it had been paid' });
  expect(await desk.runtime.runs.resume(id)).toMatchObject({
    status: 'completed',
    output: 'it had been paid',
  });
  expect(desk.lines('requests')).toHaveLength(1);
});

test('an interrupted call is repeated when a person approves it', async () => {
  const { desk, id } = await cutOff(payWith(unsafe), two);
  const paused = await desk.runtime.runs.resume(id);
  await desk.runtime.pending.approve(pendingOf(paused), { by: 'mara' });
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
  const approval = `"approval":{"id":"${pendingOf(paused)}","decision":"approved","by":"mara","reason":""}`;
  expect(desk.lines('requests')).toEqual([`{${args}}`, `{${args},${approval}}`]);
});

test('an interrupted call is shown as it was made, and passes its filters again', async () => {
  const mark =
    'hooks: {mark: {hook: tool, phases: [before_execution], command: $bin/modify-before-execution, args: [masked]}}';
  const { desk, id } = await cutOff(`${payWith(unsafe)}${mark}\n`, two);
  const paused = await desk.runtime.runs.resume(id);
  const shown = await desk.runtime.pending.show(pendingOf(paused));
  expect(stringifyJson(shown.args)).toBe('{"n":2,"order":12345678901234567890}');
  await desk.runtime.pending.approve(pendingOf(paused), { by: 'mara' });
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed' });
  expect(desk.lines('requests').map((line) => JSON.parse(line).args.note)).toEqual(['masked', 'masked']);
});

test('an approved call that must not be repeated and was interrupted waits again', async () => {
  const desk = await openDesk(payWith(`${unsafe}, approval: required`));
  const { run_id } = await desk.run(two);
  const [first] = await desk.runtime.pending.list();
  await desk.runtime.pending.approve(first?.id ?? '', { by: 'mara', args: { n: 7 } });
  expect(await resumeElsewhere(desk, run_id)).toBe('SIGKILL');
  const again = await openAt(desk.config);
  const paused = await again.runtime.runs.resume(run_id);
  expect(await again.runtime.pending.show(pendingOf(paused))).toMatchObject({
    origin: 'interrupted',
    previous: first?.id,
    args: { n: 7 },
  });
  expect(desk.lines('requests')).toHaveLength(1);
  await again.runtime.pending.approve(pendingOf(paused), { by: 'ann' });
  expect(await again.runtime.runs.resume(run_id)).toMatchObject({ status: 'completed' });
  const requests = desk.lines('requests').map((line) => JSON.parse(line));
  expect(requests.map(({ args: given, approval }) => [given.n, approval.by])).toEqual([
    [7, 'mara'],
    [7, 'ann'],
  ]);
});

const script = `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: before, args: {n: 1}}, {name: pay, args: {n: 2}}]}
        - {when: round == 2, text: "\${messages.filter(m, m.role == 'tool').size()} calls"}
hooks:
  asked: {hook: provider, phases: [before_call], ${hookRecording('answers', 'asked', '{"allow": true}')}}
`;

const chat = `
steps:
  - {id: answer, chat: {provider: main, messages: Pay., tools: [before, pay], tool_concurrency: 1}}
output: \${steps.answer.text}
`;

test('a chat interrupted in a call continues there: neither the model nor other tools are called again [DS-RUN-03]', async () => {
  const { desk, id } = await cutOff(`${payWith('idempotent: true')}${script}`, chat);
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed', output: '2 calls' });
  expect(desk.lines('asked')).toHaveLength(2);
  expect(desk.lines('before')).toHaveLength(1);
  const keys = desk.lines('requests').map((line) => JSON.parse(line).idempotency_key);
  expect(keys).toEqual(Array(2).fill(`${id}/answer/attempt-1/round-1/call-2`));
});

test('an interrupted call of a chat that must not be repeated waits for a person', async () => {
  const { desk, id } = await cutOff(`${payWith(unsafe)}${script}`, chat);
  const paused = await desk.runtime.runs.resume(id);
  expect(outline(paused)).toEqual(['answer chat pending']);
  await desk.runtime.pending.respond(pendingOf(paused), { by: 'mara', result: 'it had been paid' });
  expect(await desk.runtime.runs.resume(id)).toMatchObject({ status: 'completed', output: '2 calls' });
  expect(desk.lines('requests')).toHaveLength(1);
  expect(desk.lines('asked')).toHaveLength(2);
});

test('a tool that is not declared idempotent gets no key [DS-IDEM-01@oneshot]', async () => {
  const desk = await openDesk(`
state_store: {type: memory}
tools:
  none: {exec: ${recording('answers', 'requests', '{"result": 1}')}}
  unsafe: {idempotent: false, exec: ${recording('answers', 'requests', '{"result": 1}')}}
  safe: {idempotent: true, exec: ${recording('answers', 'requests', '{"result": 1}')}}
`);
  const { run_id } = await desk.run(`
steps: [{id: a, tool: none}, {id: b, tool: unsafe}, {id: c, tool: safe}]
`);
  await desk.runtime.tools.call('safe', {}, { callId: 'call-7' });
  expect(desk.lines('requests')).toEqual([
    '{"args":{}}',
    '{"args":{}}',
    `{"args":{},"idempotency_key":"${run_id}/c/call"}`,
    '{"args":{},"idempotency_key":"call-7"}',
  ]);
});
