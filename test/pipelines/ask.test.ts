import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDesk, outline, pendingOf, recording } from './desk.ts';
import { problemsOfSteps } from './validate-support.ts';

const spec = `tools: {note: {exec: ${recording('answers', 'notes', '{"result": "noted"}')}}}\n`;

const pipeline = `
steps:
  - id: amount
    ask:
      question: How much for \${input.who}?
      schema: {type: object, required: [cents], additionalProperties: false, properties: {cents: {type: integer, minimum: 0}}}
      by: [mara, joe]
  - {id: pay, tool: note, args: {cents: "\${steps.amount.answer.cents}", by: "\${steps.amount.by}"}}
output: \${steps.amount.answer}
`;

describe('ask [DS-RUN-16]', () => {
  test('waits for an answer, from any process, and continues with it', async () => {
    const desk = await openDesk(spec);
    const paused = await desk.run(pipeline, { who: 'Ada\u202e' });
    expect(paused).toMatchObject({
      status: 'pending',
      pending: [{ tool: '@ask', step: 'amount/ask', message: 'How much for Ada\u202e?' }],
      steps: [{ step: 'amount', kind: 'ask', status: 'pending' }],
    });
    const id = pendingOf(paused);
    const other = await desk.reopen();
    expect(await other.runtime.runs.resume(paused.run_id)).toMatchObject({ pending: paused.pending });
    await other.runtime.pending.respond(id, { by: 'mara', reason: 'checked', result: { cents: 2000 } });
    const third = await other.reopen();
    const end = await third.runtime.runs.resume(paused.run_id);
    expect(end).toMatchObject({ status: 'completed', output: { cents: 2000 } });
    expect(outline(end)).toEqual(['amount ask ok', 'pay tool ok']);
    expect(desk.lines('notes')).toEqual(['{"args":{"cents":2000,"by":"mara"}}']);
  });

  test('refuses an unfit answer, another person, an approval, and a second answer; the question stays open', async () => {
    const desk = await openDesk(spec);
    const paused = await desk.run(pipeline, { who: 'Ada' });
    const { pending } = desk.runtime;
    const id = pendingOf(paused);
    await expect(pending.respond(id, { by: 'mara', result: { cents: -1 } })).rejects.toMatchObject({
      code: 'RESULT_INVALID',
      message: expect.stringContaining('cents: must be >= 0'),
    });
    await expect(pending.respond(id, { by: 'mara', result: 7 })).rejects.toMatchObject({
      code: 'RESULT_INVALID',
    });
    await expect(pending.respond(id, { by: 'eve', result: { cents: 1 } })).rejects.toMatchObject({
      code: 'USAGE',
    });
    await expect(pending.reject(id, { by: 'eve', reason: 'no' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(pending.approve(id, { by: 'mara' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(pending.approve(id, { by: 'mara', args: {} })).rejects.toMatchObject({ code: 'USAGE' });
    expect(await pending.show(id)).toMatchObject({ status: 'open' });
    const answers = await Promise.allSettled(
      [1, 2].map((cents) => pending.respond(id, { by: 'joe', result: { cents } })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({ status: 'completed' });
  });

  test('fails the step on a rejection, which is handled', async () => {
    const desk = await openDesk(spec);
    const paused = await desk.run(
      'steps: [{id: a, ask: {question: Go?}, on_error: continue}, {id: b, tool: note, args: {c: "${steps.a.error.code}"}}]\n',
    );
    await desk.runtime.pending.reject(pendingOf(paused), { by: 'mara', reason: 'not today' });
    expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({ status: 'completed' });
    expect(desk.lines('notes')).toEqual(['{"args":{"c":"REJECTED"}}']);
  });

  test('ends the run by itself if nobody answers in time', async () => {
    const desk = await openDesk(spec);
    const paused = await desk.run('steps: [{id: a, ask: {question: Go?, expires: 2s}}]\n');
    expect(paused.status).toBe('pending');
    await sleep(2_100);
    expect(await desk.runtime.runs.list()).toMatchObject([{ status: 'failed' }]);
    expect(await desk.runtime.runs.resume(paused.run_id)).toMatchObject({
      error: { code: 'PENDING_EXPIRED' },
    });
  });

  test('checks an answer that the program gives at once', async () => {
    const desk = await openDesk(spec);
    const ask = (result: unknown) => ({
      ask: async () => ({ kind: 'responded' as const, by: 'mara', reason: '', result }) as never,
    });
    expect(await desk.run(pipeline, { who: 'Ada' }, ask({ cents: 5 }))).toMatchObject({
      status: 'completed',
    });
    expect(await desk.run(pipeline, { who: 'Ada' }, ask({ cents: 'five' }))).toMatchObject({
      status: 'failed',
      error: { code: 'RESULT_INVALID', message: expect.stringContaining('cents') },
    });
  });

  test('works in a loop and in branches, and pauses the time limit of a group', async () => {
    const desk = await openDesk(spec);
    const run = await desk.run(
      'steps: [{id: g, timeout_ms: 400, parallel: [{id: l, for_each: [1, 2], ask: {question: "${item}?"}}, {id: n, tool: note}]}]\noutput: "${steps.l.items.map(i, i.answer)}"\n',
      undefined,
      {
        wait: true,
        onPending: ({ id, message }) =>
          void sleep(500).then(() => desk.runtime.pending.respond(id, { by: 'mara', result: message })),
      },
    );
    expect(run).toMatchObject({ status: 'completed', output: ['1?', '2?'] });
  });
});

test.each([
  ['{id: a, ask: {questoin: Go?}}', 'unknown key | did you mean `question`?'],
  ['{id: a, ask: {question: Go?, schema: {type: strnig}}}', 'ask.schema: is not a valid JSON Schema'],
  [
    '{id: a, ask: {question: Go?, expires: tomorrow}}',
    'ask.expires: must be a duration such as 30m, 24h or 7d',
  ],
  ['{id: a, ask: {question: "${steps.b.result}"}}', 'no step has the id b'],
  ['{id: a, ask: {question: Go?}, tool: t}', 'steps[0]'],
])('%s is refused', (step, problem) => {
  expect(problemsOfSteps(step).join('\n')).toContain(problem);
});
