import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { PendingDocument } from '../../../src/contract/approval.ts';
import { type Runtime, stringifyJson } from '../../../src/index.ts';
import { type Desk, hookRecording, openAt, openDesk, pendingOf, recording } from '../desk.ts';

const stores = ['memory', 'sqlite'] as const;

/** `refund` waits for approval. The filter `after` records outcomes. */
function specOn(store: (typeof stores)[number], more = ''): string {
  return `
state_store: {type: ${store}}
tools:
  refund:
    input_schema: {type: object, required: [amount], properties: {amount: {type: integer, maximum: 1000}}}
    output_schema: {type: object}
    exec: ${recording('pending.sh', 'requests')}
    ${more}
hooks:
  after: {${hookRecording('answers', 'outcomes', '{"allow": true}')}, hook: tool, phases: [after_execution]}
`;
}

const pipeline = `
steps:
  - {id: refund, tool: refund, args: {amount: 250, order: 12345678901234567890}}
output: \${steps.refund.result}
`;

const long = '12345678901234567890';
const args = '{"amount":250,"order":12345678901234567890}';

type Decide = (runtime: Runtime, id: string) => Promise<PendingDocument>;

interface DecisionRow {
  readonly title: string;
  readonly decide: Decide;
  readonly decided: Partial<PendingDocument>;
  /** The run's document without its steps, as text. ID stands for the pending call's id. */
  readonly ends: string;
  readonly again?: string;
  /** The text for the model that the after filter received. */
  readonly content?: string;
}

const approval = '"approval":{"id":"ID","decision":"approved","by":"mara","reason":"fine"}';
const hintOf = {
  rejected: 'The message has the reason that the person gave.',
  expired: 'Call again, and decide before it expires.',
};

const decisions: readonly DecisionRow[] = [
  {
    title: 'approved: the tool is called again with the approval',
    decide: ({ pending }, id) => pending.approve(id, { by: 'mara', reason: 'fine' }),
    decided: { status: 'approved', by: 'mara', decision_reason: 'fine' },
    ends: `{"status":"completed","output":{"args":${args},${approval}}}`,
    again: `{"args":${args},${approval}}`,
    content: `{"args":${args},${approval}}`,
  },
  {
    title: 'approved with other arguments: the tool is called with these, to the digit',
    decide: ({ pending }, id) =>
      pending.approve(id, {
        by: 'mara',
        reason: 'fine',
        args: '{ "amount":99, "order":98765432109876543210 }',
      }),
    decided: {
      status: 'approved',
      by: 'mara',
      decision_reason: 'fine',
      edited_args: { amount: 99, order: Number('98765432109876543210') },
    },
    ends: `{"status":"completed","output":{"args":{"amount":99,"order":98765432109876543210},${approval}}}`,
    again: `{"args":{ "amount":99, "order":98765432109876543210 },${approval}}`,
    content: `{"args":{ "amount":99, "order":98765432109876543210 },${approval}}`,
  },
  {
    title: 'rejected: the call has failed, and nobody else sees it',
    decide: ({ pending }, id) => pending.reject(id, { by: 'mara', reason: 'too much' }),
    decided: { status: 'rejected', by: 'mara', decision_reason: 'too much' },
    ends: `{"status":"failed","output":null,"error":{"code":"REJECTED","message":"tool \\"refund\\" was rejected by mara: too much","hint":"${hintOf.rejected}"}}`,
  },
  {
    title: 'answered: the given result is the tool’s, to the digit, and passes the after filters',
    decide: ({ pending }, id) => pending.respond(id, { by: 'mara', result: { paid: 12345678901234567890n } }),
    decided: { status: 'responded', by: 'mara', decision_reason: '', result: { paid: Number(long) } },
    ends: '{"status":"completed","output":{"paid":12345678901234567890}}',
    content: '{"paid":12345678901234567890}',
  },
];

const onStores = stores.flatMap((store) => decisions.map((row) => ({ ...row, store })));

test.each(onStores)('in $store, $title [PK-8-03 PK-8-06@oneshot PK-8-07 PK-8-08]', async (row) => {
  const desk = await openDesk(specOn(row.store));
  const paused = await desk.run(pipeline);
  const id = pendingOf(paused);
  const open = {
    id: expect.stringMatching(/^pending_[0-9a-f]{16}$/),
    tool: 'refund',
    step: 'refund/call',
    reason: 'requires_approval',
    message: 'Refund 250 EUR?',
    expires_at: null,
    run_id: paused.run_id,
    call_id: `${paused.run_id}/refund`,
    args: { amount: 250, order: Number(long) },
    origin: 'tool',
    hook: null,
    members: { reason: 'requires_approval', message: 'Refund 250 EUR?', ticket: Number(long) },
    previous: null,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    status: 'open',
    by: null,
    decision_reason: null,
    edited_args: null,
    result: null,
    decided_at: null,
  };
  const shown = await desk.runtime.pending.show(id);
  expect(shown).toMatchObject(open);
  expect(stringifyJson(shown)).toContain(`"args":${args}`);
  expect(stringifyJson(shown)).toContain('"ticket":12345678901234567890');
  expect(await desk.runtime.pending.list()).toMatchObject([open]);

  const decided = { ...open, ...row.decided, decided_at: expect.stringMatching(/^\d{4}-/) };
  expect(await row.decide(desk.runtime, id)).toEqual(decided);
  expect(await desk.runtime.pending.list()).toEqual([]);
  expect(await desk.runtime.pending.list({ runId: paused.run_id, all: true })).toMatchObject([decided]);
  expect(desk.lines('requests')).toHaveLength(1);

  const { steps, run_id, pending, ...end } = await desk.runtime.runs.resume(paused.run_id);
  expect(stringifyJson(end)).toBe(row.ends.replaceAll('ID', id));
  expect({ run_id, pending, steps }).toMatchObject({
    run_id: paused.run_id,
    pending: [],
    steps: [{ step: 'refund' }],
  });
  const again = row.again === undefined ? [] : [row.again.replaceAll('ID', id)];
  expect(desk.lines('requests')).toEqual([`{"args":${args}}`, ...again]);
  const seen = desk.lines('outcomes').map((line) => JSON.parse(line).response.content);
  expect(seen).toEqual(row.content === undefined ? [] : [row.content.replaceAll('ID', id)]);
});

test.each(stores)('in %s, a call without a decision in time has failed [PK-8-10]', async (store) => {
  const desk = await openDesk(specOn(store, 'approval: {when: "${false}", expires: 1500ms}'));
  const paused = await desk.run(pipeline);
  const id = pendingOf(paused);
  const [notice] = paused.pending;
  const { created_at } = await desk.runtime.pending.show(id);
  expect(Date.parse(notice?.expires_at ?? '') - Date.parse(created_at)).toBe(1_500);
  await expect
    .poll(async () => (await desk.runtime.pending.show(id)).status, { timeout: 15_000 })
    .toBe('expired');
  expect(await desk.runtime.pending.show(id)).toMatchObject({
    by: null,
    decision_reason: null,
    decided_at: notice?.expires_at,
  });
  for (const decide of decisions.map((row) => row.decide)) {
    await expect(decide(desk.runtime, id)).rejects.toMatchObject({
      code: 'PENDING_EXPIRED',
      details: { decision: { id, status: 'expired' } },
    });
  }
  const end = await desk.runtime.runs.resume(paused.run_id);
  const message = 'nobody decided about tool "refund" in time';
  expect(end).toMatchObject({
    status: 'failed',
    error: { code: 'PENDING_EXPIRED', message, hint: hintOf.expired },
  });
  expect(desk.lines('requests')).toHaveLength(1);
});

test.each(stores)('in %s, exactly one decision wins, and the others learn whose [PK-8-09]', async (store) => {
  const desk = await openDesk(specOn(store));
  const id = pendingOf(await desk.run(pipeline));
  const attempts = ['ann', 'bob', 'cid', 'dan'].flatMap((by) => [
    desk.runtime.pending.approve(id, { by }),
    desk.runtime.pending.reject(id, { by }),
    desk.runtime.pending.respond(id, { by, result: {} }),
  ]);
  const outcomes = await Promise.allSettled(attempts);
  const won = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const lost = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(won).toHaveLength(1);
  expect(lost.map(({ code }) => code)).toEqual(Array(11).fill('PENDING_DECIDED'));
  for (const { details, message } of lost) {
    expect(details).toEqual({ decision: won[0] });
    expect(message).toContain(`${won[0]?.status} by ${won[0]?.by}`);
  }
  expect(await desk.runtime.pending.show(id)).toMatchObject(won[0] ?? {});
});

const refused: readonly { title: string; decide: Decide; code: string }[] = [
  {
    title: 'other arguments that do not fit the schema',
    decide: ({ pending }, id) => pending.approve(id, { by: 'mara', args: { amount: 1001 } }),
    code: 'ARGS_INVALID',
  },
  {
    title: 'other arguments with a key twice',
    decide: ({ pending }, id) => pending.approve(id, { by: 'mara', args: '{"amount": 1, "amount": 2}' }),
    code: 'ARGS_INVALID',
  },
  {
    title: 'other arguments that are no object',
    decide: ({ pending }, id) => pending.approve(id, { by: 'mara', args: '[1]' }),
    code: 'ARGS_INVALID',
  },
  {
    title: 'a result that does not fit the output schema',
    decide: ({ pending }, id) => pending.respond(id, { by: 'mara', result: 'paid' }),
    code: 'RESULT_INVALID',
  },
  {
    title: 'an id that nobody has',
    decide: ({ pending }) => pending.approve('pending_0', { by: 'mara' }),
    code: 'RUN_UNKNOWN',
  },
];

test.each(refused)('$title is refused, and the call still waits', async ({ decide, code }) => {
  const desk = await openDesk(specOn('memory'));
  const id = pendingOf(await desk.run(pipeline));
  const refusal = await decide(desk.runtime, id).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RuntimeError);
  expect(refusal).toMatchObject({ code });
  expect(await desk.runtime.pending.show(id)).toMatchObject({ status: 'open' });
});

test('a waiting run is resumed into the same wait, and the tool is not called again', async () => {
  const desk = await openDesk(specOn('sqlite'));
  const paused = await desk.run(pipeline);
  const again = await desk.reopen();
  expect(await again.runtime.runs.resume(paused.run_id)).toEqual(paused);
  expect(desk.lines('requests')).toHaveLength(1);
});

test('an approved call that asks again is a new pending call, which names the old one [PK-8-11]', async () => {
  const desk = await openDesk(`
state_store: {type: sqlite}
tools:
  refund: {idempotent: true, exec: ${recording('answers', 'requests', '{"pending": {"message": "Really?"}}')}}
`);
  const first = await desk.run(pipeline);
  const one = pendingOf(first);
  await desk.runtime.pending.approve(one, { by: 'mara' });
  const second = await desk.runtime.runs.resume(first.run_id);
  const two = pendingOf(second);
  expect(two).not.toBe(one);
  expect(await desk.runtime.pending.show(two)).toMatchObject({
    previous: one,
    status: 'open',
    origin: 'tool',
  });
  await desk.runtime.pending.approve(two, { by: 'ann' });
  const third = await desk.runtime.runs.resume(first.run_id);
  expect(await desk.runtime.pending.show(pendingOf(third))).toMatchObject({ previous: two });
  const requests = desk.lines('requests').map((line) => JSON.parse(line));
  expect(requests.map(({ approval }) => approval?.by)).toEqual([undefined, 'mara', 'ann']);
  expect(new Set(requests.map(({ idempotency_key }) => idempotency_key)).size).toBe(3);
  await desk.runtime.pending.respond(pendingOf(third), { by: 'eve', result: 'settled' });
  expect(await desk.runtime.runs.resume(first.run_id)).toMatchObject({
    status: 'completed',
    output: 'settled',
  });
});

test('a result that a person gave passes the after filters, which may change or withhold it [PK-8-08]', async () => {
  const answer = async (says: string): Promise<[Desk, string]> => {
    const desk = await openDesk(`
state_store: {type: memory}
tools: {refund: {exec: {command: $bin/pending.sh}}}
hooks: {after: {${hookRecording('answers', 'seen', says)}, hook: tool, phases: [after_execution]}}
`);
    const { run_id, pending } = await desk.run(pipeline);
    await desk.runtime.pending.respond(pending[0]?.id ?? '', { by: 'mara', result: { card: 'swordfish' } });
    return [desk, run_id];
  };
  const [masking, masked] = await answer('{"allow": true, "replace": {"content": "{\\"card\\": \\"…\\"}"}}');
  expect(await masking.runtime.runs.resume(masked)).toMatchObject({
    status: 'completed',
    output: { card: '…' },
  });
  const [denying, denied] = await answer('{"allow": false, "reason": "no cards"}');
  const end = await denying.runtime.runs.resume(denied);
  expect(end).toMatchObject({ status: 'denied', output: null, error: { code: 'DENIED' } });
  expect(JSON.stringify([end, await denying.runtime.runs.show(denied)])).not.toContain('swordfish');
});

test('a handler that can decide at once is asked, and the run continues [PK-8-06@server]', async () => {
  const desk = await openDesk(`
state_store: {type: sqlite}
tools: {refund: {exec: {command: $bin/server, args: [pending], runtime: server}}}
`);
  const asked: string[] = [];
  const told: string[] = [];
  const end = await desk.run(pipeline, undefined, {
    onPending: ({ id }) => told.push(id),
    ask: async ({ id, args: given, tool }) => {
      asked.push(`${tool} ${given.text}`);
      expect(await desk.runtime.pending.show(id)).toMatchObject({ status: 'open' });
      return { kind: 'approved', args: null, by: 'mara', reason: '' };
    },
  });
  const [id] = told;
  const approved = `"approval":{"id":"${id}","decision":"approved","by":"mara","reason":""}`;
  expect(stringifyJson(end.output)).toBe(`{"args":${args},${approved}}`);
  expect(asked).toEqual([`refund ${args}`]);
});

test.each([
  { title: 'nobody decides', ask: async () => undefined },
  { title: 'asking fails', ask: async () => Promise.reject(new Error('the terminal is gone')) },
  {
    title: 'asking throws',
    ask: () => {
      throw new Error('the terminal is gone');
    },
  },
])('if the handler $title, the run waits', async ({ ask }) => {
  const desk = await openDesk(specOn('memory'));
  const paused = await desk.run(pipeline, undefined, { ask });
  expect(paused).toMatchObject({ status: 'pending', pending: [{ tool: 'refund' }] });
  expect(await desk.runtime.runs.show(paused.run_id)).toMatchObject({ status: 'pending' });
});

test('a run that waits in its process continues when another process decides [PK-8-09]', async () => {
  const desk = await openDesk(specOn('sqlite'));
  const pending = Promise.withResolvers<string>();
  const running = desk.run(pipeline, undefined, { wait: true, onPending: ({ id }) => pending.resolve(id) });
  const id = await pending.promise;
  const other = await openAt(desk.config);
  await other.runtime.pending.respond(id, { by: 'mara', result: { paid: true } });
  expect(await running).toMatchObject({ status: 'completed', output: { paid: true }, pending: [] });
});
