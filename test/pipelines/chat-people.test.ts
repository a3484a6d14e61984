import { expect, test } from 'vitest';
import { titled } from '../cite.ts';
import { type Desk, hookRecording, openAt, openDesk, outline, recording } from './desk.ts';

function specOf(first: string, more = ''): string {
  return `
tools:
  refund:
    input_schema: {type: object, properties: {amount: {type: integer}}}
    exec: ${recording('pending.sh', 'refunds')}
    ${more}
  note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [${first}]}
        - {when: round == 2, text: "\${messages.filter(m, m.role == 'tool').map(m, m.content)}"}
hooks:
  asked: {hook: provider, phases: [before_call], ${hookRecording('answers', 'asked', '{"allow": true}')}}
`;
}

const chat = `
steps: [{id: answer, chat: {provider: main, messages: Hello., tools: [refund, note]}}]
output: \${steps.answer}
`;

const three = '{name: refund, args: {amount: 1}}, {name: note}, {name: refund, args: {amount: 2}}';

async function decideAll(desk: Desk, decide: (id: string, at: number) => Promise<unknown>): Promise<void> {
  for (const [at, { id }] of (await desk.runtime.pending.list()).entries()) await decide(id, at);
}

test('the calls of one round all run, wait in order, and are answered with one model call [PK-8-05]', async () => {
  const desk = await openDesk(specOf(three));
  const paused = await desk.run(chat);
  expect(paused).toMatchObject({ status: 'pending', output: null });
  expect(outline(paused)).toEqual(['answer chat pending']);
  expect(paused.pending.map(({ step, tool }) => `${step} ${tool}`)).toEqual([
    'answer/attempt-1/round-1/call-1 refund',
    'answer/attempt-1/round-1/call-3 refund',
  ]);
  expect(desk.lines('notes')).toHaveLength(1);
  expect(desk.lines('asked')).toHaveLength(1);

  const [one, two] = paused.pending;
  await desk.runtime.pending.respond(two?.id ?? '', { by: 'mara', result: 'two' });
  const half = await desk.reopen();
  expect(await half.runtime.runs.resume(paused.run_id)).toMatchObject({ status: 'pending', pending: [one] });
  expect(desk.lines('asked')).toHaveLength(1);

  await half.runtime.pending.respond(one?.id ?? '', { by: 'ann', result: 'one' });
  const whole = await half.reopen();
  const end = await whole.runtime.runs.resume(paused.run_id);
  expect(end).toMatchObject({ status: 'completed', output: { text: '["one","noted","two"]', rounds: 2 } });
  expect(desk.lines('asked')).toHaveLength(2);
  expect(desk.lines('notes')).toHaveLength(1);
  expect(desk.lines('refunds')).toHaveLength(2);
});

const approval = (id: string) =>
  `"approval":{"id":"${id}","decision":"approved","by":"mara","reason":"fine"}`;

const decisions = titled([
  {
    title: 'approved reads the tool’s result',
    cites: 'PK-8-06@oneshot',
    decide: ({ runtime }: Desk, id: string) => runtime.pending.approve(id, { by: 'mara', reason: 'fine' }),
    content: (id: string) => `{"args":{"amount":1},${approval(id)}}`,
    made: { status: 'ok', error: '' },
  },
  {
    title: 'approved with other arguments reads what came of those',
    cites: 'PK-8-06@oneshot',
    decide: ({ runtime }: Desk, id: string) =>
      runtime.pending.approve(id, { by: 'mara', reason: 'fine', args: { amount: 9 } }),
    content: (id: string) => `{"args":{"amount":9},${approval(id)}}`,
    made: { status: 'ok', error: '' },
  },
  {
    title: 'rejected reads who was asked, and why not',
    cites: 'PK-8-07',
    decide: ({ runtime }: Desk, id: string) => runtime.pending.reject(id, { by: 'mara', reason: 'too much' }),
    content: () => 'Tool "refund" was rejected: too much',
    made: { status: 'failed', error: 'tool "refund" was rejected by mara: too much' },
  },
  {
    title: 'rejected without a reason',
    cites: 'PK-8-07',
    decide: ({ runtime }: Desk, id: string) => runtime.pending.reject(id, { by: 'mara' }),
    content: () => 'Tool "refund" was rejected',
    made: { status: 'failed', error: 'tool "refund" was rejected by mara' },
  },
  {
    title: 'answered by a person reads that answer as it is',
    cites: 'PK-8-08',
    decide: ({ runtime }: Desk, id: string) =>
      runtime.pending.respond(id, { by: 'mara', result: 'paid by hand' }),
    content: () => 'paid by hand',
    made: { status: 'ok', error: '' },
  },
]);

test.each(decisions)('a model whose call was $title', async ({ decide, content, made }) => {
  const desk = await openDesk(specOf('{name: refund, args: {amount: 1}}'));
  const { run_id, pending } = await desk.run(chat);
  const id = pending[0]?.id ?? '';
  await decide(desk, id);
  const end = await desk.runtime.runs.resume(run_id);
  expect(end).toMatchObject({ status: 'completed', output: { text: JSON.stringify([content(id)]) } });
  expect(end.output).toMatchObject({ tool_calls: [{ name: 'refund', ...made, result: content(id) }] });
});

test('a model is informed of an expired call [PK-8-10]', async () => {
  const desk = await openDesk(
    specOf('{name: refund, args: {amount: 1}}', 'approval: {when: "${false}", expires: 1500ms}'),
  );
  const { run_id, pending } = await desk.run(chat);
  await expect
    .poll(async () => (await desk.runtime.pending.show(pending[0]?.id ?? '')).status, { timeout: 15_000 })
    .toBe('expired');
  const end = await desk.runtime.runs.resume(run_id);
  const error = 'nobody decided about tool "refund" in time';
  expect(end.output).toMatchObject({
    status: 'ok',
    text: JSON.stringify([`Tool "refund" failed: ${error}`]),
    tool_calls: [{ status: 'failed', error }],
  });
});

test('of several approved calls of one round that wait again, each is a new pending call', async () => {
  const desk = await openDesk(specOf(three, 'approval: required'));
  const first = await desk.run(chat);
  await decideAll(desk, (id) => desk.runtime.pending.approve(id, { by: 'mara' }));
  const end = await desk.runtime.runs.resume(first.run_id);
  expect(end).toMatchObject({ status: 'completed' });
  const amounts = desk.lines('refunds').map((line) => JSON.parse(line));
  expect(amounts.map(({ args, approval: given }) => [args.amount, given.id]).toSorted()).toEqual([
    [1, first.pending[0]?.id],
    [2, first.pending[1]?.id],
  ]);
});

test('of two pending calls of a round, one is rejected and one approved in any order', async () => {
  const desk = await openDesk(specOf(three));
  const { run_id } = await desk.run(chat);
  await decideAll(desk, (id, at) =>
    at === 0
      ? desk.runtime.pending.reject(id, { by: 'mara', reason: 'no' })
      : desk.runtime.pending.approve(id, { by: 'mara', reason: 'fine' }),
  );
  const [, second] = await desk.runtime.pending.list({ all: true });
  const end = await desk.runtime.runs.resume(run_id);
  expect(end.output).toMatchObject({
    text: JSON.stringify([
      'Tool "refund" was rejected: no',
      'noted',
      `{"args":{"amount":2},${approval(second?.id ?? '')}}`,
    ]),
  });
});

test('several calls that ask at once are presented in the order of the calls', async () => {
  const desk = await openDesk(specOf(three));
  const asked: string[] = [];
  const end = await desk.run(chat, undefined, {
    ask: async ({ args, id }) => {
      asked.push(args.text);
      return { kind: 'rejected', by: 'mara', reason: id };
    },
  });
  expect(end).toMatchObject({ status: 'completed' });
  expect(asked).toEqual(['{"amount":1}', '{"amount":2}']);
});

test('a run that waits in another process receives the decision and the name, and ends there', async () => {
  const desk = await openDesk(specOf(three));
  const told: string[] = [];
  const running = desk.run(chat, undefined, { wait: true, onPending: ({ id }) => told.push(id) });
  await expect.poll(() => told.length, { timeout: 15_000 }).toBe(2);
  const other = await openAt(desk.config);
  await decideAll(other, (id) => other.runtime.pending.reject(id, { by: 'ann' }));
  expect(await running).toMatchObject({ status: 'completed', output: { rounds: 2 } });
  expect(desk.lines('asked')).toHaveLength(2);
});

test('tools that a filter removed from the model’s answer neither run nor wait [DS-CHAT-03]', async () => {
  const left = { message: { role: 'assistant', content: 'No calls.', tool_calls: [] } };
  const says = JSON.stringify({ allow: true, replace: left });
  const desk = await openDesk(
    `${specOf(three)}  strip: {hook: provider, phases: [after_call], ${hookRecording('answers', 'seen', says)}}\n`,
  );
  const end = await desk.run(chat);
  expect(end).toMatchObject({
    status: 'completed',
    output: { text: 'No calls.', rounds: 1, tool_calls: [] },
  });
  expect([...desk.lines('notes'), ...desk.lines('refunds')]).toEqual([]);
});
